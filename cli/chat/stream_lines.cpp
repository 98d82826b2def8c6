#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/chat/line_reader.h"

namespace threadstore::cli {
namespace {

// Reads by itself instead of through a stream, so that a signal ends the waiting.
class StreamLines : public LineReader {
 public:
  StreamLines(int descriptor, Signals& signals) : descriptor_(descriptor), signals_(signals) {}

  Input read(const std::string&) override {
    while (true) {
      if (signals_.take_interrupt()) return {Input::Kind::interrupted};
      if (signals_.end_requested()) return {Input::Kind::end};
      if (const std::size_t end = held_.find('\n', searched_); end != std::string::npos) {
        return line_of(end, end + 1);
      }
      searched_ = held_.size();
      if (ended_) return held_.empty() ? Input{} : line_of(held_.size(), held_.size());
      fill();
    }
  }

  void remember(const std::string&) override {}

 private:
  Input line_of(std::size_t end, std::size_t next) {
    std::string text = held_.substr(0, end);
    if (!text.empty() && text.back() == '\r') text.pop_back();
    held_.erase(0, next);
    searched_ = 0;
    return {Input::Kind::line, std::move(text)};
  }

  void fill() {
    std::array<pollfd, 2> waiting{pollfd{descriptor_, POLLIN, 0},
                                  pollfd{signals_.descriptor(), POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), -1);
    signals_.acknowledge();
    if (waiting[0].revents == 0) return;
    std::array<char, 65536> bytes{};
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      throw std::system_error(errno, std::generic_category(), "reading standard input");
    }
    if (count == 0) ended_ = true;
    if (count > 0) held_.append(bytes.data(), static_cast<std::size_t>(count));
  }

  int descriptor_;
  Signals& signals_;
  std::string held_;
  std::size_t searched_ = 0;  // no line break before this place of `held_`
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<LineReader> read_lines_of(int descriptor, Signals& signals) {
  return std::make_unique<StreamLines>(descriptor, signals);
}

}  // namespace threadstore::cli
