#include "cli/app/invocation.h"

#include <unistd.h>

#include <iostream>
#include <stdexcept>
#include <utility>

#include "cli/output/descriptor_stream.h"
#include "cli/terminal/text.h"
#include "threadstore/logging.h"

namespace threadstore::cli {

Invocation::Invocation(const Command& command, GlobalOptions options)
    : command_(command),
      options_(std::move(options)),
      out_(std::make_unique<DescriptorStream>(STDOUT_FILENO)),
      style_(Style::for_descriptor(options_.color_mode(), STDOUT_FILENO)),
      message_style_(Style::for_descriptor(options_.color_mode(), STDERR_FILENO)) {
  if (options_.verbosity > 0) {
    set_log_level(options_.verbosity == 1 ? LogLevel::info : LogLevel::debug);
  }
  set_log_sink([this](LogLevel level, const std::string& line) {
    if (level >= LogLevel::warn) {
      warn(line);
    } else {
      note(line);
    }
  });
}

Invocation::~Invocation() { set_log_sink({}); }

void Invocation::print(const Json& document) {
  write_json(out(), document);
  out() << '\n';
}

void Invocation::warn(const std::string& message) { say(Tone::warning, "warning: ", message); }

void Invocation::note(const std::string& message) { say(Tone::plain, "", message); }

void Invocation::say(Tone tone, std::string_view label, const std::string& message) {
  if (options_.quiet) return;
  out().flush();  // what was printed before stands before
  std::cerr << "threadstore: " << message_style_.paint(tone, label)
            << escape_for_terminal(message, Lines::multiple) << '\n';
}

OpenOptions Invocation::open_options(OpenMode mode) {
  OpenOptions result{.mode = mode, .deadline = options_.deadline()};
  // Notices are also logged as info, which -v shows already.
  if (options_.verbosity == 0) {
    result.notice = [this](const std::string& message) { note(message); };
  }
  return result;
}

StateStore& Invocation::store() {
  if (store_) return *store_;
  switch (command_.access) {
    case Access::nothing:
      throw std::logic_error(std::string(command_.name) + " asked for a store it does not declare");
    case Access::writing:
      return open_for_writing();
    case Access::reading:
      break;
  }
  try {
    store_ = StateStore::open(database(), open_options(OpenMode::read_only));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    store_missing_ = true;
    store_ = StateStore::in_memory(open_options(OpenMode::memory));
  }
  return *store_;
}

StateStore& Invocation::open_for_writing() {
  store_ = StateStore::open(database(), open_options(OpenMode::read_write));
  store_missing_ = false;
  return *store_;
}

UnixSeconds Invocation::now() const { return system_clock()() / 1000; }

bool Invocation::interactive() const {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

bool Invocation::can_ask() const {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

}  // namespace threadstore::cli
