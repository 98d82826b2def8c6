#include "exchange/json_stream.h"

#include "base/json.h"
#include "exchange/import_job.h"
#include "exchange/json_text.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kLongestValue = std::size_t{64} << 20U;

/// Follows a value character by character until it is complete.
class ValueEnd {
 public:
  /// True when the value ended before `c` (a scalar) or with it.
  bool ends_before(char c) const {
    return !in_string_ && depth_ == 0 && begun_ &&
           (closed_ || c == ',' || c == ']' || c == '}' || c == ':' || c == ' ' || c == '\n' ||
            c == '\r' || c == '\t');
  }

  void step(char c) {
    begun_ = true;
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
        closed_ = depth_ == 0;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && depth_ > 0) {
      closed_ = --depth_ == 0;
    }
  }

 private:
  bool begun_ = false, in_string_ = false, escaped_ = false, closed_ = false;
  std::size_t depth_ = 0;
};

}  // namespace

JsonStream::JsonStream(const std::filesystem::path& file, ImportJob& job)
    : file_(file), job_(job), source_(file) {}

bool JsonStream::fill() {
  dropped_ += static_cast<std::int64_t>(at_);
  buffer_.erase(0, at_);
  at_ = 0;
  std::string piece;
  if (!source_.next(piece)) return false;
  buffer_ += piece;
  job_.advance(source_.consumed() - told_);
  told_ = source_.consumed();
  return true;
}

char JsonStream::peek() {
  for (;;) {
    while (at_ < buffer_.size()) {
      const char c = buffer_[at_];
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
      ++at_;
    }
    if (!fill()) return '\0';
  }
}

bool JsonStream::take(char expected) {
  if (peek() != expected) return false;
  ++at_;
  return true;
}

void JsonStream::require(char expected) {
  if (!take(expected)) fail(std::string("'") + expected + "' is missing");
}

const std::string& JsonStream::value() {
  peek();
  ValueEnd end;
  std::size_t length = 0;
  for (;;) {
    if (at_ + length == buffer_.size() && !fill()) break;
    const char c = buffer_[at_ + length];
    if (end.ends_before(c)) break;
    end.step(c);
    if (++length > kLongestValue) fail("a value is larger than 64 MiB");
  }
  value_.assign(buffer_, at_, length);
  auto fault = base::find_json_fault(value_);
  if (fault && mend_json(value_)) fault = base::find_json_fault(value_);
  if (fault) fail(fault->reason);
  at_ += length;
  return value_;
}

void JsonStream::fail(const std::string& why) const {
  throw Error(ErrorCode::damaged, file_.string() + " is not valid JSON behind byte " +
                                      std::to_string(dropped_ + static_cast<std::int64_t>(at_)) +
                                      ": " + why);
}

}  // namespace threadstore::exchange
