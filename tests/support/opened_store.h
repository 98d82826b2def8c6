#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {

/// A clock that stands still until it is moved. Copies share the time.
class ManualClock {
 public:
  explicit ManualClock(UnixMillis start = 1'800'000'000'000)
      : now_(std::make_shared<std::atomic<UnixMillis>>(start)) {}

  void set_seconds(UnixSeconds now) { *now_ = now * 1000; }
  void advance_seconds(std::int64_t by) { *now_ += by * 1000; }
  UnixSeconds seconds() const { return *now_ / 1000; }
  Clock clock() const {
    return [now = now_] { return now->load(); };
  }

 private:
  std::shared_ptr<std::atomic<UnixMillis>> now_;
};

/// The files of a fixture, copied so that they may be migrated.
inline void copy_fixture(const std::string& name, const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(fixture(name))) {
    const auto copy = directory / entry.path().filename();
    std::filesystem::copy_file(entry.path(), copy);
    std::filesystem::permissions(copy, std::filesystem::perms(0600));
  }
}

}  // namespace threadstore::test
