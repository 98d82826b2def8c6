#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace threadstore::base {

// File work with the durability rules of docs/guarantees.md. Never use it on a database, its -wal
// or its -shm: closing any descriptor of those drops SQLite's locks.

/// Throws `Error` with `io` and the reason that fits: "cannot <doing> <file>: <system's words>".
[[noreturn]] void throw_io(const std::string& doing, const std::filesystem::path& file, int error);

/// What tells one state of a file from another without reading it.
struct FileStatus {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;

  bool same_file(const FileStatus& other) const {
    return device == other.device && inode == other.inode;
  }
  friend bool operator==(const FileStatus&, const FileStatus&) = default;
};

/// The status of what the path names; nothing when it names nothing.
std::optional<FileStatus> file_status(const std::filesystem::path& file);

/// An open file, closed at the end of its life; never passed on to a program that we start. All
/// failures are `Error` with `io`. Use from one thread at a time.
class File {
 public:
  /// Opens with these open(2) flags; nothing when the file does not exist. O_NOFOLLOW refuses a
  /// symbolic link.
  static std::optional<File> open(const std::filesystem::path& file, int flags);

  /// Makes a new file of mode 0600, whatever the umask; nothing when the name is taken, also by a
  /// symbolic link.
  static std::optional<File> create(const std::filesystem::path& file, int flags);

  /// Opens the file, or makes it as `create` does. The new name is not yet durable: see
  /// `sync_directory`. `created` tells which happened.
  static File open_or_create(const std::filesystem::path& file, int flags, bool* created = nullptr);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  FileStatus status() const;
  /// Reads up to `size` bytes at `offset`; fewer only at the end of the file.
  std::string read_at(std::int64_t offset, std::size_t size) const;

  /// Appends a record with one write(2), for a file opened with O_APPEND and locked against other
  /// writers. On a short or failed write the file is cut back to its old size, then it throws.
  void append(std::string_view record);
  /// Writes all of it at the descriptor's position.
  void write_all(std::string_view bytes);

  /// Makes the content durable. After a failure nobody knows what reached the disk, and a second
  /// attempt would lie: report it, never repeat it.
  void sync_data();
  void sync();

  int descriptor() const noexcept { return descriptor_; }
  /// Gives the descriptor up without closing it.
  int release() noexcept;

 private:
  File(int descriptor, std::filesystem::path path);
  int descriptor_;
  std::filesystem::path path_;
};

/// Makes the directory and its missing parents, each 0700 whatever the umask, and makes them
/// durable up to the first that existed. Does nothing when it exists.
void make_directories(const std::filesystem::path& directory);

/// Makes names that were created, renamed or removed in the directory durable.
void sync_directory(const std::filesystem::path& directory);

/// Replaces the content of `file` (0600) at once: written to `temporary` in the same directory,
/// synced, renamed, directory synced. A crash leaves the old or the new content. What lay at
/// `temporary` is removed first, so that it is never written through a link.
void replace_file(const std::filesystem::path& file, const std::filesystem::path& temporary,
                  std::string_view content);

}  // namespace threadstore::base
