#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace threadstore::exchange {

/// What lies around a rollout: `<home>/sessions/…` and `<home>/archived_sessions/` beside
/// `<home>/session_index.jsonl`. Remembers what it read. Not thread-safe.
class CodexHomes {
 public:
  /// The name that the thread has in its home's index; the newest line counts.
  std::optional<std::string> name(const std::filesystem::path& rollout, const std::string& thread);

  /// All rollouts of a thread in the home of `rollout`.
  std::vector<std::filesystem::path> rollouts(const std::filesystem::path& rollout,
                                              const std::string& thread);

  static bool is_archived(const std::filesystem::path& rollout);

 private:
  struct Home {
    std::map<std::string, std::string> names;
    std::map<std::string, std::vector<std::filesystem::path>> rollouts;  ///< by thread id
  };

  Home* home_of(const std::filesystem::path& rollout);

  std::map<std::filesystem::path, Home> homes_;
};

/// The ids in a rollout's file name, "rollout-<time>-<thread>[_<segment>].jsonl[.zst]".
struct CodexFileName {
  std::string thread{};
  std::string segment{};  ///< empty: the thread's first file
};
CodexFileName read_codex_file_name(const std::filesystem::path& rollout);

}  // namespace threadstore::exchange
