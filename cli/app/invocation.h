#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "cli/app/command.h"
#include "cli/app/global_options.h"
#include "cli/output/json.h"
#include "cli/terminal/style.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// One run of one command: what it was told, where its results go, and its store. While it lives
/// the library's warnings (a migration with its backup, skipped index lines) are said as `warn`
/// says them. One at a time in a process; not thread-safe.
class Invocation {
 public:
  Invocation(const Command& command, GlobalOptions options);
  ~Invocation();
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  const GlobalOptions& options() const noexcept { return options_; }
  bool json() const noexcept { return options_.json; }

  /// Results. Throws `ReaderGone` when nobody reads them any more, `io` when they cannot be
  /// written.
  std::ostream& out() noexcept { return *out_; }
  /// Colours for `out()`.
  const Style& style() const noexcept { return style_; }
  /// Prints one JSON document, ended by a newline.
  void print(const Json& document);

  /// Says on standard error what the user should know although the command succeeds; `-q` is deaf.
  void warn(const std::string& message);
  /// The same for what is only pleasant to know.
  void note(const std::string& message);

  /// The store, opened when first asked for, as the command's `Access` says. A reading command gets
  /// an empty store in memory when there is none.
  StateStore& store();
  /// The store for writing, whatever the command's access; made when missing.
  StateStore& open_for_writing();
  /// After `store()` of a reading command: there was none.
  bool store_missing() const noexcept { return store_missing_; }
  std::filesystem::path database() const { return options_.database(); }
  OpenOptions open_options(OpenMode mode);

  /// Unix seconds now.
  UnixSeconds now() const;

  bool interactive() const;  ///< standard input and output are terminals
  bool can_ask() const;      ///< standard input and standard error are terminals

  int exit_code() const noexcept { return exit_code_; }
  /// For a command that found out something bad without failing itself (`doctor`).
  void set_exit_code(int code) noexcept { exit_code_ = code; }

 private:
  void say(Tone tone, std::string_view label, const std::string& message);

  const Command& command_;
  GlobalOptions options_;
  std::unique_ptr<std::ostream> out_;
  Style style_;
  Style message_style_;
  std::optional<StateStore> store_;
  bool store_missing_ = false;
  int exit_code_ = 0;
};

}  // namespace threadstore::cli
