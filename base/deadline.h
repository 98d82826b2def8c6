#pragma once

#include <algorithm>
#include <chrono>

namespace threadstore::base {

/// The one deadline of a call: made once, handed to everything that waits.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(std::chrono::milliseconds budget) {
    return Deadline(Clock::now() + budget);
  }

  bool expired() const { return Clock::now() >= at_; }
  Clock::time_point at() const { return at_; }
  /// Never negative.
  std::chrono::milliseconds remaining() const {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(at_ - Clock::now()));
  }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace threadstore::base
