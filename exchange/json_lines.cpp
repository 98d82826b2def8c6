#include "exchange/json_lines.h"

#include "base/json.h"
#include "exchange/byte_source.h"
#include "exchange/import_job.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} << 20U;

class LineReader {
 public:
  LineReader(const std::filesystem::path& file, ImportJob& job,
             const std::function<void(JsonText, std::int64_t)>& visit)
      : file_(file), job_(job), visit_(visit) {}

  void add(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      take(piece.substr(0, end));
      if (end == std::string_view::npos) return;
      finish();
      piece.remove_prefix(end + 1);
    }
  }

  /// At the end of the file, which may lack its newline.
  void end() {
    if (!line_.empty() || too_long_) finish();
  }

  std::int64_t number() const { return number_; }

 private:
  void take(std::string_view part) {
    if (line_.size() + part.size() > kLongestLine) too_long_ = true;
    if (too_long_) {
      line_.clear();
      line_.shrink_to_fit();
    } else {
      line_ += part;
    }
  }

  void finish() {
    ++number_;
    if (too_long_) {
      job_.skip(file_, number_, "the line is longer than 64 MiB");
    } else if (line_.find_first_not_of(" \t\r") != std::string::npos) {
      check();
    }
    too_long_ = false;
    line_.clear();
  }

  void check() {
    auto fault = base::find_json_fault(line_);
    if (fault && mend_json(line_)) {
      fault = base::find_json_fault(line_);
      if (!fault) {
        job_.skip(file_, number_,
                  "what is not valid UTF-8 was replaced by U+FFFD; the rest is kept");
      }
    }
    if (fault) {
      job_.skip(file_, number_,
                "not valid JSON: " + fault->reason + " at byte " + std::to_string(fault->offset));
      return;
    }
    const JsonText object(line_);
    if (!object.is_object()) {
      job_.skip(file_, number_, "not a JSON object");
      return;
    }
    visit_(object, number_);
  }

  const std::filesystem::path& file_;
  ImportJob& job_;
  const std::function<void(JsonText, std::int64_t)>& visit_;
  std::string line_;
  std::int64_t number_ = 0;
  bool too_long_ = false;
};

}  // namespace

void each_json_line(const std::filesystem::path& file, ImportJob& job,
                    const std::function<void(JsonText, std::int64_t line)>& visit) {
  LineReader lines(file, job, visit);
  try {
    ByteSource source(file);
    std::int64_t told = 0;
    for (std::string piece; source.next(piece);) {
      lines.add(piece);
      job.advance(source.consumed() - told);
      told = source.consumed();
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged && error.code() != ErrorCode::io) throw;
    job.skip(file, lines.number() + 1, error.what());
  }
  lines.end();
}

}  // namespace threadstore::exchange
