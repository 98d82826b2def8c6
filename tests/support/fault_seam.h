#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace threadstore::test {

/// The calls through which the store reaches a disk.
enum class DiskVerb {
  open,
  close,
  read,
  write,
  truncate,
  sync,
  sync_directory,
  rename,
  unlink,
  lock,   ///< a lock of SQLite on the database file, or of its shared memory
  map,    ///< a region of SQLite's shared memory
  look,   ///< size, status, existence
  chmod,  ///< modes, and new directories
  link,   ///< a second name
};

std::string_view to_string(DiskVerb verb);

/// One call, as it reaches the system. A file that is open is known by its `handle` (the same from
/// its `open` to its `close`); `path` is the name by which it was opened.
struct DiskCall {
  DiskVerb verb = DiskVerb::look;
  std::filesystem::path path{};
  std::uintptr_t handle = 0;
  std::int64_t offset = 0;     ///< of a write; the new size of a truncate
  std::string_view bytes{};    ///< of a write; valid during the call
  bool created = false;        ///< this open made the file
  std::filesystem::path to{};  ///< of a rename, of a link
  bool of_sqlite = false;      ///< came through the VFS
};

/// Sees every call of the process while a `WatchDisk` is alive. Called by one thread at a time only
/// when the store is used by one thread at a time.
class DiskWatcher {
 public:
  virtual ~DiskWatcher() = default;

  /// Before a call: an errno to refuse it with, without doing it; 0 lets it pass.
  virtual int refuse(const DiskCall&) { return 0; }
  /// After a call that was done. A failed one is not told.
  virtual void done(const DiskCall&) {}
};

/// Puts the watcher under the two seams of the store, for its lifetime: SQLite's default VFS, and
/// the system calls of our own file work (`base/system.h`). Everything but syncs reaches the real
/// files; a refused call does not. SQLite's shared memory and the writer gate are not told but for
/// locks and maps: both are hints, thrown away by a crash.
class WatchDisk {
 public:
  explicit WatchDisk(DiskWatcher& watcher);
  ~WatchDisk();
  WatchDisk(const WatchDisk&) = delete;
  WatchDisk& operator=(const WatchDisk&) = delete;
};

/// The watcher in place, or null. For the two seams.
DiskWatcher* disk_watcher();

/// Puts both seams in place for the rest of the process; files that are opened afterwards pass
/// through them, watched or not. `WatchDisk` does it too; call it before a store is opened that
/// will be watched only later.
void install_disk_seams();

/// Makes the VFS of the seam SQLite's default. Called by `install_disk_seams`.
void install_watched_vfs();

}  // namespace threadstore::test
