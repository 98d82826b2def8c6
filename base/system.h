#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>

namespace threadstore::base {

/// The system calls of our own file work, as the kernel's: same arguments, -1 and errno on failure.
/// One seam under `base/files`, where a test puts a model of a disk that fails or loses power.
/// SQLite has its own seam (a VFS) and does not pass here.
class System {
 public:
  virtual ~System() = default;

  virtual int open(const char* path, int flags, mode_t mode);
  virtual int close(int descriptor);
  virtual ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset);
  virtual ssize_t write(int descriptor, const void* bytes, std::size_t size);
  virtual int ftruncate(int descriptor, off_t size);
  virtual int fdatasync(int descriptor);
  virtual int fsync(int descriptor);
  virtual int fchmod(int descriptor, mode_t mode);
  virtual int fstat(int descriptor, struct stat* status);
  virtual int stat(const char* path, struct stat* status);
  virtual int chmod(const char* path, mode_t mode);
  virtual int mkdir(const char* path, mode_t mode);
  virtual int rename(const char* from, const char* to);
  /// renameat2(2) that never replaces.
  virtual int rename_to_free(const char* from, const char* to);
  virtual int link(const char* file, const char* name);
  virtual int unlink(const char* path);
};

/// The system calls in use: the kernel's, unless a `SystemOverride` is alive.
System& system_calls();

/// For tests: replaces the system calls of the whole process for its lifetime.
class SystemOverride {
 public:
  explicit SystemOverride(System& replacement);
  ~SystemOverride();
  SystemOverride(const SystemOverride&) = delete;
  SystemOverride& operator=(const SystemOverride&) = delete;

 private:
  System* previous_;
};

}  // namespace threadstore::base
