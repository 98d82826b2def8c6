#pragma once

#include <functional>
#include <string>

namespace threadstore {

enum class LogLevel { debug, info, warn, error, off };

/// Takes one line of the library's log. Called from any thread that uses the store, one call at a
/// time. It must not throw and must not call the library.
using LogSink = std::function<void(LogLevel level, const std::string& line)>;

/// Gives the library's log lines to the embedding program instead of standard error; an empty
/// function restores standard error. Lines never hold message contents.
void set_log_sink(LogSink sink);

/// Drops lines below `level`. Until this is called the environment variable THREADSTORE_LOG
/// (debug, info, warn, error, off) decides, and without it `warn`.
void set_log_level(LogLevel level);

}  // namespace threadstore
