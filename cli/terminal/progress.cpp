#include "cli/terminal/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::chrono::milliseconds first_frame_after{300};
constexpr std::chrono::milliseconds between_frames{100};
constexpr std::string_view clear_line = "\r\x1b[K";

}  // namespace

ProgressBar::ProgressBar(std::string label, bool quiet)
    : label_(std::move(label)),
      enabled_(!quiet && ::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + first_frame_after) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::cerr << clear_line << std::flush;
}

void ProgressBar::operator()(std::int64_t done, std::int64_t total) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + between_frames;
  drawn_ = true;
  std::cerr << clear_line << frame(label_, done, total, terminal_width(STDERR_FILENO) - 1)
            << std::flush;
}

void ProgressBar::operator()(const std::string& label, std::int64_t done, std::int64_t total) {
  label_ = label;
  (*this)(done, total);
}

std::string ProgressBar::frame(const std::string& label, std::int64_t done, std::int64_t total,
                               std::size_t width) {
  const std::string counts = std::to_string(done) + (total > 0 ? "/" + std::to_string(total) : "");
  if (total <= 0) return cut_to_width(label + " " + counts, width);
  const double part = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const std::string percent = std::to_string(static_cast<int>(part * 100)) + " % ";
  const std::size_t around = display_width(label) + counts.size() + percent.size() + 4;
  if (around + 5 > width) return cut_to_width(label + " " + percent + counts, width);
  const std::size_t bar = std::min<std::size_t>(width - around, 40);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(bar));
  return label + " [" + std::string(full, '#') + std::string(bar - full, ' ') + "] " + percent +
         counts;
}

}  // namespace threadstore::cli
