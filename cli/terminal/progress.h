#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace threadstore::cli {

/// A bar on standard error for long work: only when that is a terminal, drawn at most ten times a
/// second, not before 300 ms have passed (short work shows nothing), removed at the end. Call it
/// with what is done and the total so far known; it fits `threadstore::Progress`.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label, bool quiet = false);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void operator()(std::int64_t done, std::int64_t total);
  /// The same under another label from now on.
  void operator()(const std::string& label, std::int64_t done, std::int64_t total);

  /// One frame, for a terminal of that width: "label [#####     ] 50 % 500/1000".
  static std::string frame(const std::string& label, std::int64_t done, std::int64_t total,
                           std::size_t width);

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace threadstore::cli
