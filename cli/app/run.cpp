#include "cli/app/run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <utility>

#include "cli/app/command_line.h"
#include "cli/app/exit_code.h"
#include "cli/app/help.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/app/usage_error.h"
#include "cli/app/verb_help.h"
#include "cli/completion/candidates.h"
#include "cli/output/descriptor_stream.h"
#include "cli/terminal/text.h"
#include "threadstore/error.h"
#include "threadstore/version.h"

namespace threadstore::cli {
namespace {

extern "C" void end_interrupted(int) { ::_exit(exit_interrupted); }
extern "C" void do_nothing(int) {}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN && signal == SIGINT) return;  // in the background: stays deaf
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

int report(bool as_json, const std::string& word, const std::string& message, const Json& details,
           int exit_code) {
  if (as_json) {
    Json error{{"code", word}, {"message", message}};
    if (!details.empty()) error["details"] = details;
    write_json(std::cerr, Json{{"error", std::move(error)}});
    std::cerr << '\n';
  } else {
    std::cerr << "threadstore: " << escape_for_terminal(message, Lines::multiple) << '\n';
  }
  return exit_code;
}

int report(bool as_json, const Error& error) {
  return report(as_json, std::string(to_string(error.code())), error.what(), Json(error.details()),
                exit_code_of(error.code()));
}

std::string version_line() { return "threadstore " + std::string(threadstore::version()); }

int run_verb(CommandLine& line, std::ostream& out) {
  const Command& command = *line.command;
  Syntax syntax;
  const Action action = command.declare(syntax);
  GlobalOptions options;
  declare_global_options(syntax, options);
  std::reverse(line.arguments.begin(), line.arguments.end());  // CLI11 takes them from the back
  try {
    syntax.app().parse(line.arguments);
  } catch (const CLI::CallForHelp&) {
    print_verb_help(out, command, line.name, syntax.app());
    return exit_done;
  } catch (const CLI::ParseError& error) {
    if (options.version) {
      out << version_line() << '\n';
      return exit_done;
    }
    throw usage_error(syntax.app(), error, line.name);
  }
  if (options.version) {
    out << version_line() << '\n';
    return exit_done;
  }
  Invocation invocation(command, std::move(options));
  action(invocation);
  invocation.out().flush();
  return invocation.exit_code();
}

int run_words(const std::vector<std::string>& words, std::ostream& out) {
  if (!words.empty() && words.front() == "__complete") {
    print_candidates(out, {words.begin() + 1, words.end()});
    return exit_done;
  }
  CommandLine line = split_command_line(words);
  if (line.command != nullptr && line.command->declare != nullptr) {
    return run_verb(line, out);
  }
  if (line.help && line.command == nullptr) {
    print_all_commands(out);
  } else if (line.help) {
    print_verbs(out, *line.command);
  } else if (line.version) {
    out << version_line() << '\n';
  } else if (words.empty()) {
    print_first_steps(out);
  } else {
    throw Error(ErrorCode::invalid_argument,
                line.command == nullptr ? "a command is missing; `threadstore --help` lists them"
                                        : "'" + line.name + "' needs a verb; `threadstore " +
                                              line.name + " --help` lists them");
  }
  return exit_done;
}

}  // namespace

void prepare_process() {
  // In place of a missing descriptor one that refuses: reading "input", writing "output".
  if (::fcntl(STDIN_FILENO, F_GETFD) < 0) ::open("/dev/null", O_WRONLY);
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  handle(SIGINT, end_interrupted);
  handle(SIGPIPE, do_nothing);  // a handler, not SIG_IGN: commands that we start get the default
}

int run(const std::vector<std::string>& arguments) {
  const bool as_json = wants_json(arguments);
  try {
    DescriptorStream out(STDOUT_FILENO);
    const int code = run_words(arguments, out);
    out.flush();
    return code;
  } catch (const ReaderGone&) {
    return exit_done;
  } catch (const Error& error) {
    return report(as_json, error);
  } catch (const std::exception& error) {
    return report(as_json, "failed", error.what(), {}, exit_failed);
  }
}

}  // namespace threadstore::cli
