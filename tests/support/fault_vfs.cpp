// A SQLite VFS around the system's that tells the watcher what reaches the disk.
//
// What SQLite's unix VFS does besides the call itself (os_unix.c of 3.40): the first sync of a
// journal or WAL opened with the right to create it also syncs the directory; a delete syncs the
// directory only when it is asked to. Both are told as `sync_directory`.
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "tests/support/fault_seam.h"

namespace threadstore::test {
namespace {

struct WatchedFile {
  sqlite3_file base;
  sqlite3_file* real;
  std::string* path;
  bool sync_directory_too;
  bool delete_on_close;
};

WatchedFile* watched(sqlite3_file* file) { return reinterpret_cast<WatchedFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return watched(file)->real; }
const sqlite3_io_methods* methods(sqlite3_file* file) { return real(file)->pMethods; }

sqlite3_vfs* system_vfs() {
  static sqlite3_vfs* const system = sqlite3_vfs_find("unix");
  return system;
}

DiskCall call_on(sqlite3_file* file, DiskVerb verb) {
  return {.verb = verb,
          .path = *watched(file)->path,
          .handle = reinterpret_cast<std::uintptr_t>(file),
          .of_sqlite = true};
}

/// Runs `action` unless the watcher refuses the call; then the answer is `refusal`, or SQLITE_FULL
/// for a disk that is said to be full. Tells the watcher of what succeeded.
template <class Action>
int pass(const DiskCall& call, int refusal, Action&& action) {
  DiskWatcher* const watcher = disk_watcher();
  if (watcher != nullptr) {
    if (const int error = watcher->refuse(call)) {
      errno = error;
      return error == ENOSPC && call.verb == DiskVerb::write ? SQLITE_FULL : refusal;
    }
  }
  const int code = action();
  if (watcher != nullptr && code == SQLITE_OK) watcher->done(call);
  return code;
}

void tell_directory_synced(const std::filesystem::path& file) {
  if (DiskWatcher* const watcher = disk_watcher()) {
    watcher->done(
        {.verb = DiskVerb::sync_directory, .path = file.parent_path(), .of_sqlite = true});
  }
}

int close_file(sqlite3_file* file) {
  const DiskCall call = call_on(file, DiskVerb::close);
  const int code = methods(file) != nullptr ? methods(file)->xClose(real(file)) : SQLITE_OK;
  if (DiskWatcher* const watcher = disk_watcher()) watcher->done(call);
  std::free(real(file));
  delete watched(file)->path;
  return code;
}

int read_file_part(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  DiskCall call = call_on(file, DiskVerb::read);
  call.offset = at;
  return pass(call, SQLITE_IOERR_READ,
              [&] { return methods(file)->xRead(real(file), to, size, at); });
}

int write_file_part(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  DiskCall call = call_on(file, DiskVerb::write);
  call.offset = at;
  call.bytes = {static_cast<const char*>(from), static_cast<std::size_t>(size)};
  return pass(call, SQLITE_IOERR_WRITE,
              [&] { return methods(file)->xWrite(real(file), from, size, at); });
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  DiskCall call = call_on(file, DiskVerb::truncate);
  call.offset = size;
  return pass(call, SQLITE_IOERR_TRUNCATE,
              [&] { return methods(file)->xTruncate(real(file), size); });
}

/// The disk is the model's: the real one would only cost time.
int sync_file(sqlite3_file* file, int) {
  const int code =
      pass(call_on(file, DiskVerb::sync), SQLITE_IOERR_FSYNC, [] { return SQLITE_OK; });
  if (code == SQLITE_OK && watched(file)->sync_directory_too) {
    watched(file)->sync_directory_too = false;
    tell_directory_synced(*watched(file)->path);
  }
  return code;
}

const sqlite3_io_methods watching = {
    .iVersion = 3,
    .xClose = close_file,
    .xRead = read_file_part,
    .xWrite = write_file_part,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize =
        [](sqlite3_file* f, sqlite3_int64* size) {
          return pass(call_on(f, DiskVerb::look), SQLITE_IOERR_FSTAT,
                      [&] { return methods(f)->xFileSize(real(f), size); });
        },
    .xLock =
        [](sqlite3_file* f, int level) {
          return pass(call_on(f, DiskVerb::lock), SQLITE_IOERR_LOCK,
                      [&] { return methods(f)->xLock(real(f), level); });
        },
    .xUnlock = [](sqlite3_file* f, int level) { return methods(f)->xUnlock(real(f), level); },
    .xCheckReservedLock = [](sqlite3_file* f,
                             int* out) { return methods(f)->xCheckReservedLock(real(f), out); },
    .xFileControl = [](sqlite3_file* f, int op,
                       void* argument) { return methods(f)->xFileControl(real(f), op, argument); },
    .xSectorSize = [](sqlite3_file* f) { return methods(f)->xSectorSize(real(f)); },
    .xDeviceCharacteristics =
        [](sqlite3_file* f) { return methods(f)->xDeviceCharacteristics(real(f)); },
    .xShmMap =
        [](sqlite3_file* f, int region, int size, int extend, void volatile** out) {
          return pass(call_on(f, DiskVerb::map), SQLITE_IOERR_SHMMAP,
                      [&] { return methods(f)->xShmMap(real(f), region, size, extend, out); });
        },
    .xShmLock =
        [](sqlite3_file* f, int offset, int n, int flags) {
          const auto lock = [&] { return methods(f)->xShmLock(real(f), offset, n, flags); };
          if ((flags & SQLITE_SHM_UNLOCK) != 0) return lock();
          return pass(call_on(f, DiskVerb::lock), SQLITE_IOERR_SHMLOCK, lock);
        },
    .xShmBarrier = [](sqlite3_file* f) { methods(f)->xShmBarrier(real(f)); },
    .xShmUnmap = [](sqlite3_file* f, int remove) { return methods(f)->xShmUnmap(real(f), remove); },
    .xFetch = [](sqlite3_file* f, sqlite3_int64 at, int size,
                 void** page) { return methods(f)->xFetch(real(f), at, size, page); },
    .xUnfetch = [](sqlite3_file* f, sqlite3_int64 at,
                   void* page) { return methods(f)->xUnfetch(real(f), at, page); },
};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  constexpr int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL;
  const bool may_create = (flags & SQLITE_OPEN_CREATE) != 0;
  // Not by xAccess, for which an empty file is not there.
  const bool there = name == nullptr || !may_create || ::access(name, F_OK) == 0;
  WatchedFile* const opened = watched(file);
  opened->base.pMethods = nullptr;
  opened->real =
      static_cast<sqlite3_file*>(std::calloc(1, static_cast<std::size_t>(system_vfs()->szOsFile)));
  opened->path = new std::string(name != nullptr ? name : "");
  opened->sync_directory_too = may_create && (flags & journals) != 0;
  DiskCall call = call_on(file, DiskVerb::open);
  call.created = !there;
  const int code = pass(call, SQLITE_CANTOPEN, [&] {
    return system_vfs()->xOpen(system_vfs(), name, opened->real, flags, out);
  });
  if (code == SQLITE_OK) {
    opened->base.pMethods = &watching;
    return code;
  }
  std::free(opened->real);
  delete opened->path;
  return code;
}

int delete_file(sqlite3_vfs*, const char* name, int sync_directory) {
  const int code =
      pass({.verb = DiskVerb::unlink, .path = name, .of_sqlite = true}, SQLITE_IOERR_DELETE,
           [&] { return system_vfs()->xDelete(system_vfs(), name, sync_directory); });
  if (code == SQLITE_OK && sync_directory != 0) tell_directory_synced(name);
  return code;
}

int access_file(sqlite3_vfs*, const char* name, int flags, int* out) {
  return pass({.verb = DiskVerb::look, .path = name, .of_sqlite = true}, SQLITE_IOERR_ACCESS,
              [&] { return system_vfs()->xAccess(system_vfs(), name, flags, out); });
}

}  // namespace

void install_watched_vfs() {
  static const bool installed = [] {
    static sqlite3_vfs vfs = *system_vfs();
    vfs.pNext = nullptr;
    vfs.zName = "watched";
    vfs.szOsFile = sizeof(WatchedFile);
    vfs.xOpen = open_file;
    vfs.xDelete = delete_file;
    vfs.xAccess = access_file;
    sqlite3_vfs_register(&vfs, /*makeDflt=*/1);
    return true;
  }();
  static_cast<void>(installed);
}

}  // namespace threadstore::test
