#pragma once

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/system.h"

namespace threadstore::test {

/// Notes the calls that change a disk ("write state", "sync state", "rename"), counts the bytes
/// that were read, and lets one call fail. Passes everything else on to the kernel. Files are named
/// by the last part of their path. Not thread-safe.
class RecordingSystem : public base::System {
 public:
  std::vector<std::string> calls;
  std::size_t bytes_read = 0;
  std::string fail_call;  ///< the call, as it would be noted, that fails
  int fail_with = EIO;
  std::size_t short_write = 0;  ///< when not 0, the most that one write takes

  int open(const char* path, int flags, mode_t mode) override {
    const int descriptor = System::open(path, flags, mode);
    if (descriptor >= 0) names_[descriptor] = std::filesystem::path(path).filename();
    return descriptor;
  }
  ssize_t pread(int descriptor, void* buffer, std::size_t size, off_t offset) override {
    const ssize_t got = System::pread(descriptor, buffer, size, offset);
    if (got > 0) bytes_read += static_cast<std::size_t>(got);
    return got;
  }
  ssize_t write(int descriptor, const void* bytes, std::size_t size) override {
    if (noted("write " + names_[descriptor]) != 0) return -1;
    if (short_write > 0) size = std::min(size, short_write);
    return System::write(descriptor, bytes, size);
  }
  int ftruncate(int descriptor, off_t size) override {
    if (noted("truncate " + names_[descriptor]) != 0) return -1;
    return System::ftruncate(descriptor, size);
  }
  int fdatasync(int descriptor) override { return noted("datasync " + names_[descriptor]); }
  int fsync(int descriptor) override { return noted("sync " + names_[descriptor]); }
  int rename(const char* from, const char* to) override {
    if (noted("rename") != 0) return -1;
    return System::rename(from, to);
  }

 private:
  int noted(const std::string& call) {
    calls.push_back(call);
    if (call != fail_call) return 0;
    errno = fail_with;
    return -1;
  }

  std::map<int, std::string> names_;
};

}  // namespace threadstore::test
