#include "cli/commands/append_lines.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <vector>

#include "cli/resolve/json_members.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/progress.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20U;  // of lines, in one commit

struct Line {
  std::int64_t number = 0;
  NewMessage message;
  std::optional<std::string> key;
};

/// {"role","content","item"?,"key"?}. The other fields of a printed MESSAGE are known too, so that
/// what `show --json` or `watch --json` gave can be stored again: "created_at" is kept, ids are
/// new.
Line parse_line(const std::string& text) {
  Line line;
  bool has_role = false;
  bool has_content = false;
  for (auto& [name, value] : json_members(text)) {
    const bool null = value == "null";
    if (name == "role") {
      line.message.role = json_string(name, value);
      has_role = true;
    } else if (name == "content") {
      line.message.content = json_string(name, value);
      has_content = true;
    } else if (name == "item") {
      if (!null) line.message.item = value;
    } else if (name == "key") {
      if (!null) line.key = json_string(name, value);
    } else if (name == "created_at") {
      const auto number = nlohmann::json::parse(value);
      if (!number.is_number_integer() && !null) {
        throw Error(ErrorCode::invalid_argument, "\"created_at\" must be Unix seconds");
      }
      if (!null) line.message.created_at = number.get<UnixSeconds>();
    } else if (name != "id" && name != "thread_id" && name != "parent_entry_id") {
      throw Error(ErrorCode::invalid_argument, "\"" + name + "\" is not a field of a message");
    }
  }
  if (!has_role) throw Error(ErrorCode::invalid_argument, "\"role\" is missing");
  if (!has_content) throw Error(ErrorCode::invalid_argument, "\"content\" is missing");
  return line;
}

/// The error of a line that could not be stored, with what became of the others.
Error stopped_at(const std::string& file, std::int64_t line, std::int64_t stored,
                 const Error& error) {
  const std::string rest = stored == 0
                               ? "nothing is stored"
                               : std::to_string(stored) + (stored == 1 ? " message" : " messages") +
                                     " before it " + (stored == 1 ? "is" : "are") +
                                     " stored, and nothing from it on";
  const Error stopped(error.code(),
                      file + " line " + std::to_string(line) + ": " + error.what() + "; " + rest,
                      {{"line", line}, {"stored", stored}});
  return stored > 0 ? stopped.after_commit() : stopped;
}

/// Stores lines in batches and counts.
class BatchWriter {
 public:
  BatchWriter(StateStore store, ThreadId thread, std::string file, std::size_t batch)
      : store_(std::move(store)),
        thread_(std::move(thread)),
        file_(std::move(file)),
        batch_(batch) {}

  void add(Line line, std::size_t bytes) {
    lines_.push_back(std::move(line));
    bytes_ += bytes;
    if (lines_.size() >= batch_ || bytes_ >= kMostBytes) flush();
  }

  /// Stores what was collected in one commit, each message under its own key. When one is refused
  /// those before it are stored, and the error that is thrown names its line.
  void flush() {
    std::size_t at = 0;
    std::vector<MessageId> ids;
    try {
      store_.transaction([&] {
        ids.clear();
        Messages messages = store_.messages();
        for (at = 0; at < lines_.size(); ++at) {
          ids.push_back(messages.append(thread_, lines_[at].message, {.key = lines_[at].key}).id);
        }
      });
    } catch (const Error& error) {
      if (at == lines_.size()) at = 0;  // the commit failed: none of them is stored
      const std::int64_t number = lines_[at].number;
      lines_.resize(at);
      if (at > 0) flush();
      throw stopped_at(file_, number, stored_, error);
    }
    if (!ids.empty()) {
      if (!first_) first_ = ids.front();
      last_ = ids.back();
    }
    stored_ += static_cast<std::int64_t>(ids.size());
    lines_.clear();
    bytes_ = 0;
  }

  /// Ends at a line that cannot be read.
  [[noreturn]] void stop(std::int64_t number, const Error& error) {
    if (pending()) flush();
    throw stopped_at(file_, number, stored_, error);
  }

  bool pending() const { return !lines_.empty(); }
  std::int64_t stored() const { return stored_; }
  std::optional<MessageId> first() const { return first_; }
  std::optional<MessageId> last() const { return last_; }

 private:
  StateStore store_;
  ThreadId thread_;
  std::string file_;
  std::size_t batch_;
  std::vector<Line> lines_;
  std::size_t bytes_ = 0;
  std::int64_t stored_ = 0;
  std::optional<MessageId> first_, last_;
};

void print_result(Invocation& call, const BatchWriter& writer) {
  if (call.json()) {
    return call.print({{"count", writer.stored()},
                       {"first_id", or_null(writer.first())},
                       {"last_id", or_null(writer.last())}});
  }
  call.out() << writer.stored() << (writer.stored() == 1 ? " message" : " messages");
  if (writer.first()) call.out() << ", ids " << *writer.first() << " to " << *writer.last();
  call.out() << '\n';
}

}  // namespace

void append_lines(Invocation& call, const Thread& thread, const std::string& file,
                  std::size_t batch) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) {
      const int reason = errno;
      throw Error(reason == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                  "cannot read " + file + ": " + std::strerror(reason));
    }
  }
  std::istream& in = file == "-" ? std::cin : opened;
  const std::string shown = file == "-" ? "standard input" : file;
  BatchWriter writer(call.store(), thread.id, shown, batch);
  ProgressBar progress("storing", call.options().quiet);
  std::int64_t number = 0;
  std::string text;
  while (std::getline(in, text)) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::optional<Line> line;
    try {
      line = parse_line(valid_text(call, text, shown + " line " + std::to_string(number)));
    } catch (const Error& error) {
      writer.stop(number, error);
    }
    line->number = number;
    writer.add(std::move(*line), text.size());
    progress(number, 0);
  }
  if (in.bad()) throw Error(ErrorCode::io, "cannot read " + shown + " to its end");
  if (writer.pending()) writer.flush();
  print_result(call, writer);
}

}  // namespace threadstore::cli
