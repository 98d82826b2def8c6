#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "threadstore/state_store.h"

namespace threadstore::test {

/// What a run of the program gave.
struct ProgramRun {
  int status = -1;
  std::string out;
  std::string err;

  friend bool operator==(const ProgramRun&, const ProgramRun&) = default;
};

/// `threadstore --home HOME chat ARGUMENTS…`, to run or to start.
std::vector<std::string> chat_command(const std::filesystem::path& home,
                                      const std::vector<std::string>& arguments);

/// Runs a command to its end with that standard input, in files beside each other in `scratch`.
ProgramRun run_program(const std::vector<std::string>& command, const std::string& input,
                       const std::filesystem::path& scratch);

/// The store of that home, for looking.
StateStore open_store(const std::filesystem::path& home);
/// The only thread of that store.
Thread only_thread(const StateStore& store);
/// "role: content" of the branch that ends at a message, or at the current leaf; oldest first.
std::vector<std::string> branch_of(const StateStore& store, const ThreadId& thread,
                                   std::optional<MessageId> leaf = {});

/// A program on a terminal of its own, 80 by 24, under LANG=C without colours. Every wait has a
/// deadline; it is killed at the end of the scope.
class TerminalProgram {
 public:
  explicit TerminalProgram(const std::vector<std::string>& command);
  ~TerminalProgram();
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;

  /// Waits until the text appears behind what was expected before. Throws with the transcript when
  /// it does not.
  void expect(const std::string& text);
  void type(const std::string& keys);
  void resize(unsigned short columns, unsigned short rows);
  void kill(int signal);
  /// Waits for the end: the exit status, or 128 + signal.
  int wait();

  pid_t pid() const { return pid_; }
  const std::string& transcript() const { return transcript_; }

 private:
  bool read_some();
  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string transcript_;
  std::size_t seen_ = 0;
  bool ended_ = false;
};

}  // namespace threadstore::test
