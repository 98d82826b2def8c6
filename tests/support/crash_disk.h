#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/fault_seam.h"

namespace threadstore::test {

/// What was done to the files of one directory, in order.
struct DiskChange {
  enum class Kind { create, write, truncate, sync, rename, link, unlink, sync_directory };
  Kind kind = Kind::write;
  int file = 0;             ///< an inode of the model
  std::string name{};       ///< create, rename (the old name), unlink
  std::string to{};         ///< rename, link
  std::int64_t offset = 0;  ///< write; truncate: the new size
  std::string bytes{};      ///< write
};

/// Records the changes of one directory. What lies there at first counts as durable.
class DiskRecorder : public DiskWatcher {
 public:
  explicit DiskRecorder(std::filesystem::path directory);

  void done(const DiskCall& call) override;

  const std::vector<DiskChange>& changes() const { return changes_; }
  std::size_t position() const { return changes_.size(); }
  /// Name, inode and content of what was there at first.
  struct Initial {
    int file = 0;
    std::string content{};
  };
  const std::map<std::string, Initial>& initial() const { return initial_; }

  /// For a test of the model: calls that are not recorded, as if the store had not made them.
  std::function<bool(const DiskCall&)> leave_out{};

 private:
  std::optional<std::string> name_in_directory(const std::filesystem::path& path) const;
  int file_of(const DiskCall& call);

  std::filesystem::path directory_;
  std::map<std::string, Initial> initial_;
  std::map<std::string, int> names_;
  std::map<std::uintptr_t, int> open_;
  std::vector<DiskChange> changes_;
  int last_file_ = 0;
};

/// How a crash treats what was not synced.
enum class CrashStyle {
  lose_all,   ///< nothing of it reached the disk
  keep_all,   ///< all of it did (what kill -9 leaves)
  in_order,   ///< all up to some moment, the last write torn
  scattered,  ///< each sector and each name by itself, in any order; sizes may grow without content
};
std::string_view to_string(CrashStyle style);

/// A disk with a volatile cache, as the file system interfaces allow it to behave:
///
/// 1. A write or truncate is durable when a sync of that file came after it. Until then a crash
///    keeps or loses each of its sectors (512 or 4,096 bytes, aligned) by itself; bytes of a sector
///    that the write does not touch stay. Where a file grew and the bytes were lost, there are
///    NULs.
/// 2. A name (made, renamed, removed) is durable when a sync of the directory came after it: a sync
///    of the file does not make its name durable.
/// 3. A rename is atomic.
class CrashDisk {
 public:
  explicit CrashDisk(const DiskRecorder& recorder);

  /// Goes on to the state after this many of the recorder's changes; never back.
  void advance(std::size_t position);

  /// Puts a state that a crash at this moment may leave into the directory, in the place of what
  /// was there. Lock files stay as they are: only their locks mean something.
  void crash(CrashStyle style, std::mt19937_64& random, const std::filesystem::path& into) const;

 private:
  struct Pending {
    std::size_t position = 0;
    const DiskChange* change = nullptr;
  };
  struct File {
    std::string durable;
    std::vector<Pending> pending;
  };
  using Names = std::map<std::string, int>;

  static void apply_name(Names& names, const DiskChange& change);
  Names names_after(CrashStyle style, std::size_t cut, std::mt19937_64& random) const;
  std::string content_after(const File& file, CrashStyle style, std::size_t cut,
                            std::mt19937_64& random) const;
  std::size_t random_cut(std::mt19937_64& random) const;

  const DiskRecorder& recorder_;
  std::size_t position_ = 0;
  std::map<int, File> files_;
  Names durable_names_;
  std::vector<Pending> pending_names_;
};

}  // namespace threadstore::test
