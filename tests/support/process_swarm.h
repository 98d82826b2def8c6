#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/child_process.h"

namespace threadstore::test {

/// Several processes that start their work at the same moment. Each is a program that says "ready",
/// waits for a line, works, and ends. All are killed at the end of the scope.
class ProcessSwarm {
 public:
  /// Starts one process per command and returns when every one has said "ready".
  explicit ProcessSwarm(const std::vector<std::vector<std::string>>& commands);

  /// Lets all of them go.
  void go();
  /// Ends the work of those that go on until they read another line.
  void stop() { go(); }
  void kill(int signal);

  /// What each said until its end, line by line. A process that did not exit with 0 fails the test,
  /// with its last line.
  std::vector<std::vector<std::string>> finish();

  ChildProcess& operator[](std::size_t number) { return *processes_.at(number); }
  std::size_t size() const { return processes_.size(); }

 private:
  std::vector<std::unique_ptr<ChildProcess>> processes_;
};

/// Reads what a process says until its end.
std::vector<std::string> read_lines(ChildProcess& process);

}  // namespace threadstore::test
