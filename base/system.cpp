#include "base/system.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace threadstore::base {
namespace {

std::atomic<System*>& current() {
  static std::atomic<System*> system{new System};  // outlives every static store
  return system;
}

}  // namespace

int System::open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
int System::close(int descriptor) { return ::close(descriptor); }
ssize_t System::pread(int descriptor, void* buffer, std::size_t size, off_t offset) {
  return ::pread(descriptor, buffer, size, offset);
}
ssize_t System::write(int descriptor, const void* bytes, std::size_t size) {
  return ::write(descriptor, bytes, size);
}
int System::ftruncate(int descriptor, off_t size) { return ::ftruncate(descriptor, size); }
int System::fdatasync(int descriptor) { return ::fdatasync(descriptor); }
int System::fsync(int descriptor) { return ::fsync(descriptor); }
int System::fchmod(int descriptor, mode_t mode) { return ::fchmod(descriptor, mode); }
int System::fstat(int descriptor, struct stat* status) { return ::fstat(descriptor, status); }
int System::stat(const char* path, struct stat* status) { return ::stat(path, status); }
int System::chmod(const char* path, mode_t mode) { return ::chmod(path, mode); }
int System::mkdir(const char* path, mode_t mode) { return ::mkdir(path, mode); }
int System::rename(const char* from, const char* to) { return std::rename(from, to); }
int System::rename_to_free(const char* from, const char* to) {
  return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
int System::link(const char* file, const char* name) { return ::link(file, name); }
int System::unlink(const char* path) { return ::unlink(path); }

System& system_calls() { return *current().load(std::memory_order_acquire); }

SystemOverride::SystemOverride(System& replacement)
    : previous_(current().exchange(&replacement, std::memory_order_acq_rel)) {}
SystemOverride::~SystemOverride() { current().store(previous_, std::memory_order_release); }

}  // namespace threadstore::base
