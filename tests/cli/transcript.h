#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace threadstore::test {

/// A file of commands with what they print, kept as text:
///
///     ## A comment, kept as it is
///     $ threadstore show nothing
///     ! threadstore: no thread has the id …
///     [3]
///
/// Lines behind a command are its output, lines of standard error marked by `! `, then the exit
/// code in brackets unless it is 0. All commands run in one shell, so that a variable that one sets
/// is known to the next, in a directory and with a store of their own. What differs from run to run
/// is written in words: `<id1>` for the first UUID that appears (`<id1…>` for its last 8
/// characters), `HH:MM`, `<time>`, `<pid>`, `<bytes>`, `<cursor>`, `<dir>`.
class Transcript {
 public:
  static Transcript read(const std::filesystem::path& file);

  /// Runs the commands with `program` as `threadstore`; returns the transcript as it really is.
  std::string run(const std::filesystem::path& program) const;

  const std::string& text() const { return text_; }

 private:
  struct Step {
    std::string comments;
    std::string command;
  };
  std::string text_;
  std::vector<Step> steps_;
  std::string ending_;  ///< comments behind the last command
};

}  // namespace threadstore::test
