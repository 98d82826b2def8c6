#include "base/files.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/system.h"
#include "threadstore/error.h"

namespace threadstore::base {
namespace {

constexpr mode_t private_file = 0600;
constexpr mode_t private_directory = 0700;

IoReason reason_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return IoReason::disk_full;
    case EROFS:
      return IoReason::read_only;
    case EACCES:
    case EPERM:
      return IoReason::permission;
    default:
      return IoReason::other;
  }
}

FileStatus to_status(const struct stat& raw) {
  return {.device = raw.st_dev,
          .inode = raw.st_ino,
          .size = raw.st_size,
          .modified_ns = std::int64_t{raw.st_mtim.tv_sec} * 1'000'000'000 + raw.st_mtim.tv_nsec};
}

/// Runs a system call again as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

std::filesystem::path parent_of(const std::filesystem::path& file) {
  const std::filesystem::path parent = file.parent_path();
  return parent.empty() ? "." : parent;
}

}  // namespace

void throw_io(const std::string& doing, const std::filesystem::path& file, int error) {
  std::string hint;
  if (error == ENOSPC || error == EDQUOT) hint = "; free some space and try again";
  if (error == ELOOP) hint = "; it must not be a symbolic link";
  throw Error(reason_of(error), "cannot " + doing + " " + file.string() + ": " +
                                    std::generic_category().message(error) + hint);
}

std::optional<FileStatus> file_status(const std::filesystem::path& file) {
  struct stat raw {};
  if (system_calls().stat(file.c_str(), &raw) == 0) return to_status(raw);
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  throw_io("look at", file, errno);
}

File::File(int descriptor, std::filesystem::path path)
    : descriptor_(descriptor), path_(std::move(path)) {}

File::File(File&& other) noexcept : descriptor_(other.release()), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) system_calls().close(descriptor_);
}

int File::release() noexcept { return std::exchange(descriptor_, -1); }

std::optional<File> File::open(const std::filesystem::path& file, int flags) {
  const int descriptor =
      uninterrupted([&] { return system_calls().open(file.c_str(), flags | O_CLOEXEC, 0); });
  if (descriptor >= 0) return File(descriptor, file);
  if (errno == ENOENT) return std::nullopt;
  throw_io("open", file, errno);
}

std::optional<File> File::create(const std::filesystem::path& file, int flags) {
  const int all_flags = flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int descriptor =
      uninterrupted([&] { return system_calls().open(file.c_str(), all_flags, private_file); });
  if (descriptor < 0) {
    if (errno == EEXIST) return std::nullopt;
    throw_io("create", file, errno);
  }
  File made(descriptor, file);
  if (system_calls().fchmod(descriptor, private_file) != 0) {
    const int error = errno;
    system_calls().unlink(file.c_str());  // ours, and empty
    throw_io("set mode of", file, error);
  }
  return made;
}

File File::open_or_create(const std::filesystem::path& file, int flags, bool* created) {
  // Between the two attempts another process may make or remove the file; a name that is neither
  // there nor free is a symbolic link to nowhere.
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (created != nullptr) *created = false;
    if (std::optional<File> existing = open(file, flags)) return std::move(*existing);
    if (created != nullptr) *created = true;
    if (std::optional<File> made = create(file, flags)) return std::move(*made);
  }
  throw_io("create", file, ELOOP);
}

FileStatus File::status() const {
  struct stat raw {};
  if (system_calls().fstat(descriptor_, &raw) != 0) throw_io("look at", path_, errno);
  return to_status(raw);
}

std::string File::read_at(std::int64_t offset, std::size_t size) const {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = uninterrupted([&] {
      return system_calls().pread(descriptor_, bytes.data() + done, size - done,
                                  offset + static_cast<off_t>(done));
    });
    if (got < 0) throw_io("read", path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

void File::append(std::string_view record) {
  const std::int64_t size_before = status().size;
  const ssize_t written = uninterrupted(
      [&] { return system_calls().write(descriptor_, record.data(), record.size()); });
  if (written == static_cast<ssize_t>(record.size())) return;
  // A short write means that the disk is full, whatever a later sync says.
  const int error = written < 0 ? errno : ENOSPC;
  if (written > 0)
    uninterrupted([&] { return system_calls().ftruncate(descriptor_, size_before); });
  throw_io("append to", path_, error);
}

void File::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = uninterrupted(
        [&] { return system_calls().write(descriptor_, bytes.data(), bytes.size()); });
    if (written < 0) throw_io("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void File::sync_data() {
  if (system_calls().fdatasync(descriptor_) != 0) throw_io("sync", path_, errno);
}

void File::sync() {
  if (system_calls().fsync(descriptor_) != 0) throw_io("sync", path_, errno);
}

void make_directories(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> missing;
  std::filesystem::path at = directory.has_filename() ? directory : parent_of(directory);
  for (; !at.empty() && !file_status(at); at = at.parent_path()) missing.push_back(at);
  for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
    if (system_calls().mkdir(next->c_str(), private_directory) != 0) {
      if (errno == EEXIST) continue;
      throw_io("make directory", *next, errno);
    }
    if (system_calls().chmod(next->c_str(), private_directory) != 0) {
      throw_io("set mode of", *next, errno);
    }
  }
  for (const std::filesystem::path& made : missing) {
    sync_directory(made);
    sync_directory(parent_of(made));
  }
}

void sync_directory(const std::filesystem::path& directory) {
  const std::optional<File> opened = File::open(directory, O_RDONLY | O_DIRECTORY);
  if (!opened) throw_io("sync directory", directory, ENOENT);
  // EINVAL: a file system without such a thing, which orders names by itself.
  if (system_calls().fsync(opened->descriptor()) != 0 && errno != EINVAL) {
    throw_io("sync directory", directory, errno);
  }
}

void replace_file(const std::filesystem::path& file, const std::filesystem::path& temporary,
                  std::string_view content) {
  if (system_calls().unlink(temporary.c_str()) != 0 && errno != ENOENT) {
    throw_io("remove", temporary, errno);
  }
  std::optional<File> made = File::create(temporary, O_WRONLY);
  if (!made) throw_io("create", temporary, EEXIST);
  try {
    made->write_all(content);
    made->sync();
    if (system_calls().rename(temporary.c_str(), file.c_str()) != 0) {
      throw_io("replace", file, errno);
    }
  } catch (const Error&) {
    system_calls().unlink(temporary.c_str());
    throw;
  }
  sync_directory(parent_of(file));
}

}  // namespace threadstore::base
