#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/crash_sweep.h"
#include "tests/crash/store_script.h"
#include "tests/support/crash_disk.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {

/// A script that was run once on a recorded disk, and the store's content after each of its steps:
/// the oracle. From the record any number of crashes are made and looked at, in other directories.
class CrashRun {
 public:
  struct Options {
    std::uint64_t seed = 1;
    std::size_t length = 70;
    /// Takes protection away, to see that the model notices: see DiskRecorder.
    std::function<bool(const DiskCall&)> leave_out{};
  };
  explicit CrashRun(const Options& options);

  std::size_t changes() const { return recorder_->changes().size(); }
  std::size_t steps() const { return done_.size(); }

  /// Crashes, opens what is left, and says what is wrong; nothing when every acknowledged step is
  /// there, the one under way wholly there or wholly absent, the store sound and usable. Some
  /// crashes are followed by a second one while the store recovers. Positions must not go back.
  std::optional<std::string> crash(const CrashPoint& point);

 private:
  struct DoneStep {
    std::string name;
    std::size_t begin = 0;  ///< position of the recorder
    std::size_t end = 0;
    std::vector<std::string> content;  ///< after it
  };

  std::string open_and_look(const std::filesystem::path& home, const CrashPoint& point);
  void open_and_crash_again(std::mt19937_64& random, CrashStyle style);

  const TempDir live_;
  const TempDir crashed_;
  const TempDir crashed_twice_;
  ManualClock clock_;
  std::unique_ptr<DiskRecorder> recorder_;
  std::vector<DoneStep> done_;
  std::optional<CrashDisk> disk_;
};

}  // namespace threadstore::test
