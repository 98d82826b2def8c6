#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/deadline.h"
#include "base/file_lock.h"
#include "base/files.h"

namespace threadstore::session_index {

/// The bytes of the index on the disk, and how they change.
///
/// Invariants
/// 1. Every change happens under the lock file beside the index, which all programs take.
/// 2. An append is one write on an O_APPEND descriptor; before it, a last line without a newline is
///    closed, so that what a dead writer left never swallows the next entry.
/// 3. What `replace` returned from is durable, content and name; what `append` did is, once `sync`
///    has returned. Whoever replaces the file meanwhile takes appended lines along, synced.
/// Not thread-safe but for `lock`: the lock orders the callers.
class IndexFile {
 public:
  explicit IndexFile(std::filesystem::path file);

  /// Waits for the lock; makes the directory (0700) when it is missing. Throws `busy`.
  base::FileLock::Guard lock(const base::Deadline& deadline) const;

  struct Growth {
    std::int64_t before = 0;
    std::int64_t after = 0;
  };
  /// Appends whole lines. The file is made (0600) when it is missing.
  Growth append(std::string_view lines);

  /// Makes what this object appended durable. After a failure nobody knows what is: append it
  /// again.
  void sync();

  /// Ends a last line that has no newline, so that it is read: it may be a whole entry.
  void close_torn_line();

  /// Replaces the content at once: a crash leaves the old or the new file.
  void replace(std::string_view content);

  const std::filesystem::path& path() const noexcept { return file_; }

 private:
  std::filesystem::path directory() const;
  /// Opens what has the name now, makes it when it is missing, and makes the name durable.
  base::FileStatus open_current();
  static bool is_torn(const base::File& file, std::int64_t size);

  std::filesystem::path file_;
  std::filesystem::path lock_file_;
  mutable std::atomic<base::FileLock*> lock_ = nullptr;  ///< the one used last
  /// The file of the last append, its name durable. Stays open, so that the system cannot give its
  /// inode number to the next file.
  std::optional<base::File> opened_;
};

}  // namespace threadstore::session_index
