#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "exchange/json_text.h"
#include "exchange/record.h"

namespace threadstore::exchange {

class ImportJob;

/// One opencode session on its way into the store: its messages in order. They form a chain; what a
/// pending revert hides stays as a branch behind the active tip.
class OpencodeSession {
 public:
  /// `info`: the session as `opencode export` writes it.
  OpencodeSession(const std::filesystem::path& file, JsonText info, ImportJob& job);

  /// `message`: {"info":…,"parts":[…]}.
  void add(JsonText message);
  void finish();

 private:
  std::filesystem::path file_;
  ImportJob& job_;
  std::string reverted_from_;  ///< the first message that is hidden
  bool hidden_ = false;
  std::optional<std::string> tip_{}, last_{};
  SessionEnd end_{};
};

}  // namespace threadstore::exchange
