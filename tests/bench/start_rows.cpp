// A whole process: starts, opens the store, shows one thread, ends.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {

#ifdef THREADSTORE_PROGRAM  // not when only the library is built

namespace {

/// Starts the program with its output thrown away, and waits for its end.
void run_program(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int code = ::posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (code != 0 || ::waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error(command[0] + " failed");
  }
}

Sides show_sides(const Bench& bench) {
  const auto directory = bench.scratch();
  make_store(directory, {.threads = 10, .messages = 100});
  const std::string file = (directory / "state.db").string();
  const std::string thread = made_thread(3).str();
  const int count = bench.scale.pick(1, 10, 20);
  return {.ours =
              [file, thread, count] {
                for (int i = 0; i < count; ++i) {
                  run_program({THREADSTORE_PROGRAM, "--db", file, "show", thread});
                }
              },
          .raw =
              [file, thread, count] {
                for (int i = 0; i < count; ++i) run_program({RAW_SHOW, file, thread});
              },
          .operations = static_cast<double>(count)};
}

}  // namespace

void add_start_rows(const Bench& bench) {
  add(bench, PairedRow{.name = "process/show",
                       .work = "whole process: show one thread of 10 messages",
                       .goal = Goal::time(2),
                       .rounds = 30,
                       .prepare = show_sides});
}

#else

void add_start_rows(const Bench&) {}

#endif

}  // namespace threadstore::bench
