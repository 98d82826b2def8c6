#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exchange/json_text.h"
#include "threadstore/state_store.h"

namespace threadstore::exchange {

/// Where a paginated rollout goes on from: all lines of that thread before the ordinal.
struct CodexBase {
  std::string thread{};
  std::int64_t end_ordinal = 0;      ///< exclusive
  std::int64_t end_byte_offset = 0;  ///< in the file that holds the last of them
};

std::optional<CodexBase> read_codex_base(JsonText session_meta);

/// A rollout as its first line tells.
struct CodexRollout {
  std::filesystem::path file{};
  std::string thread{};
  std::string segment{};
  std::int64_t first_ordinal = 0;
  std::optional<CodexBase> base{};
};

/// The key of the line with that ordinal.
std::string codex_ordinal_key(const std::string& segment, std::int64_t ordinal);

/// The rollouts of one import, to find what a fork or a reverted thread goes on from.
class CodexRollouts {
 public:
  void add(CodexRollout rollout);

  /// The key of the last message before the base's end: of its thread, or of what that thread goes
  /// on from itself. Nothing when the store does not have it.
  std::optional<std::string> find_base(const StateStore& store, CodexBase base) const;

 private:
  const CodexRollout* rollout_with(const CodexBase& base) const;

  std::map<std::string, std::vector<CodexRollout>> by_thread_;
};

}  // namespace threadstore::exchange
