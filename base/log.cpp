#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "threadstore/logging.h"

namespace threadstore {
namespace {

LogLevel level_from_environment() {
  const char* value = std::getenv("THREADSTORE_LOG");
  const std::string_view word = value == nullptr ? "" : value;
  if (word == "debug" || word == "trace") return LogLevel::debug;
  if (word == "info") return LogLevel::info;
  if (word == "error") return LogLevel::error;
  if (word == "off") return LogLevel::off;
  return LogLevel::warn;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

std::string escape_controls(std::string_view line) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(line.size());
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      text += c;
    } else {
      text.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 0xF]);
    }
  }
  return text;
}

/// Everything is made at the first line that passes the level: a quiet program pays nothing.
class Log {
 public:
  void set_sink(LogSink sink) {
    const std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
  }

  void set_level(LogLevel level) {
    const std::lock_guard lock(mutex_);
    level_ = level;
  }

  void write(LogLevel level, std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (!level_) level_ = level_from_environment();
    if (level < *level_) return;
    const std::string text = escape_controls(line);
    if (sink_) {
      sink_(level, text);
      return;
    }
    if (!logger_) {
      logger_ = std::make_unique<spdlog::logger>("threadstore",
                                                 std::make_shared<spdlog::sinks::stderr_sink_st>());
      logger_->set_pattern("%n: %l: %v");
      logger_->set_level(spdlog::level::trace);
      logger_->flush_on(spdlog::level::trace);
    }
    logger_->log(to_spdlog(level), text);
  }

 private:
  std::mutex mutex_;
  std::optional<LogLevel> level_;
  LogSink sink_;
  std::unique_ptr<spdlog::logger> logger_;
};

/// Never destroyed: destructors of other static objects may still log.
Log& the_log() {
  static auto* log = new Log;
  return *log;
}

void write_line(LogLevel level, std::string_view line) noexcept {
  try {
    the_log().write(level, line);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a log that fails must not fail its caller
  }
}

}  // namespace

void set_log_sink(LogSink sink) { the_log().set_sink(std::move(sink)); }
void set_log_level(LogLevel level) { the_log().set_level(level); }

namespace base {

void log_debug(std::string_view line) noexcept { write_line(LogLevel::debug, line); }
void log_info(std::string_view line) noexcept { write_line(LogLevel::info, line); }
void log_warn(std::string_view line) noexcept { write_line(LogLevel::warn, line); }
void log_error(std::string_view line) noexcept { write_line(LogLevel::error, line); }

}  // namespace base
}  // namespace threadstore
