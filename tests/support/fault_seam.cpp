#include "tests/support/fault_seam.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <memory>

#include "base/system.h"

namespace threadstore::test {
namespace {

DiskWatcher* current = nullptr;

/// The system calls of `base/files`, told to the watcher.
class WatchedSystem : public base::System {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    const bool may_create = (flags & O_CREAT) != 0;
    DiskCall call{.verb = DiskVerb::open, .path = path};
    call.created = may_create && ::access(path, F_OK) != 0;
    if (refused(call)) return -1;
    const int descriptor = System::open(path, flags, mode);
    if (descriptor < 0) return -1;
    Open& opened = open_[descriptor];
    opened = {
        .path = path, .append = (flags & O_APPEND) != 0, .directory = (flags & O_DIRECTORY) != 0};
    call.handle = handle_of(descriptor);
    return done(call, descriptor);
  }
  int close(int descriptor) override {
    const DiskCall call = call_on(descriptor, DiskVerb::close);
    const int result = System::close(descriptor);
    open_.erase(descriptor);
    return done(call, result);
  }
  ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset) override {
    DiskCall call = call_on(descriptor, DiskVerb::read);
    call.offset = offset;
    if (refused(call)) return -1;
    return System::pread(descriptor, buffer, size, offset);
  }
  ssize_t write(int descriptor, const void* bytes, std::size_t size) override {
    DiskCall call = call_on(descriptor, DiskVerb::write);
    call.offset = ::lseek(descriptor, 0, open_[descriptor].append ? SEEK_END : SEEK_CUR);
    call.bytes = {static_cast<const char*>(bytes), size};
    if (refused(call)) return -1;
    const ssize_t written = System::write(descriptor, bytes, size);
    if (written > 0) {
      call.bytes = call.bytes.substr(0, static_cast<std::size_t>(written));
      tell(call);
    }
    return written;
  }
  int ftruncate(int descriptor, off_t size) override {
    DiskCall call = call_on(descriptor, DiskVerb::truncate);
    call.offset = size;
    return refused(call) ? -1 : done(call, System::ftruncate(descriptor, size));
  }
  int fdatasync(int descriptor) override { return sync(descriptor); }
  int fsync(int descriptor) override { return sync(descriptor); }
  int fchmod(int descriptor, mode_t mode) override {
    const DiskCall call = call_on(descriptor, DiskVerb::chmod);
    return refused(call) ? -1 : System::fchmod(descriptor, mode);
  }
  int fstat(int descriptor, struct stat* status) override {
    const DiskCall call = call_on(descriptor, DiskVerb::look);
    return refused(call) ? -1 : System::fstat(descriptor, status);
  }
  int stat(const char* path, struct stat* status) override {
    return refused({.verb = DiskVerb::look, .path = path}) ? -1 : System::stat(path, status);
  }
  int chmod(const char* path, mode_t mode) override {
    return refused({.verb = DiskVerb::chmod, .path = path}) ? -1 : System::chmod(path, mode);
  }
  int mkdir(const char* path, mode_t mode) override {
    return refused({.verb = DiskVerb::chmod, .path = path}) ? -1 : System::mkdir(path, mode);
  }
  int rename(const char* from, const char* to) override {
    const DiskCall call{.verb = DiskVerb::rename, .path = from, .to = to};
    return refused(call) ? -1 : done(call, System::rename(from, to));
  }
  int rename_to_free(const char* from, const char* to) override {
    const DiskCall call{.verb = DiskVerb::rename, .path = from, .to = to};
    return refused(call) ? -1 : done(call, System::rename_to_free(from, to));
  }
  int link(const char* file, const char* name) override {
    const DiskCall call{.verb = DiskVerb::link, .path = file, .to = name};
    return refused(call) ? -1 : done(call, System::link(file, name));
  }
  int unlink(const char* path) override {
    const DiskCall call{.verb = DiskVerb::unlink, .path = path};
    return refused(call) ? -1 : done(call, System::unlink(path));
  }

 private:
  struct Open {
    std::filesystem::path path;
    bool append = false;
    bool directory = false;
  };

  static std::uintptr_t handle_of(int descriptor) {
    return static_cast<std::uintptr_t>(descriptor) + 1;
  }
  DiskCall call_on(int descriptor, DiskVerb verb) {
    return {.verb = verb, .path = open_[descriptor].path, .handle = handle_of(descriptor)};
  }
  int sync(int descriptor) {
    const bool directory = open_[descriptor].directory;
    const DiskCall call =
        call_on(descriptor, directory ? DiskVerb::sync_directory : DiskVerb::sync);
    return refused(call) ? -1 : done(call, 0);  // as in fault_vfs.cpp
  }

  static bool refused(const DiskCall& call) {
    const int error = current != nullptr ? current->refuse(call) : 0;
    if (error == 0) return false;
    errno = error;
    return true;
  }
  static void tell(const DiskCall& call) {
    const int kept = errno;
    if (current != nullptr) current->done(call);
    errno = kept;
  }
  template <class Result>
  static Result done(const DiskCall& call, Result result) {
    if (result >= 0) tell(call);
    return result;
  }

  /// Of every descriptor that passed here, also of those opened while nobody watched.
  std::map<int, Open> open_;
};

}  // namespace

std::string_view to_string(DiskVerb verb) {
  constexpr std::array<std::string_view, 14> names{
      "open",   "close",  "read", "write", "truncate", "sync",  "sync_directory",
      "rename", "unlink", "lock", "map",   "look",     "chmod", "link"};
  return names.at(static_cast<std::size_t>(verb));
}

DiskWatcher* disk_watcher() { return current; }

void install_disk_seams() {
  static const bool installed = [] {
    install_watched_vfs();
    // Until the program ends: it knows what is open.
    static WatchedSystem watched;
    static const base::SystemOverride override(watched);
    return true;
  }();
  static_cast<void>(installed);
}

WatchDisk::WatchDisk(DiskWatcher& watcher) {
  install_disk_seams();
  current = &watcher;
}

WatchDisk::~WatchDisk() { current = nullptr; }

}  // namespace threadstore::test
