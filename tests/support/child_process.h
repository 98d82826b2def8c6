#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace threadstore::test {

/// Another program, for tests with several processes: its standard input and output are pipes. It
/// is killed at the end of the scope when it still runs. Every wait has a deadline.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The next line of its output, without the newline; nothing at the end of the output. Throws
  /// when none came in time.
  std::optional<std::string> read_line(std::chrono::seconds limit = std::chrono::seconds(30));
  void write_line(const std::string& line);
  void close_input();

  void kill(int signal);
  /// Its exit status, or 128 + the signal that ended it. Throws when it did not end in time.
  int wait(std::chrono::seconds limit = std::chrono::seconds(60));

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace threadstore::test
