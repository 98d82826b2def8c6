#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exchange/redact.h"
#include "threadstore/export.h"

namespace threadstore::exchange {

/// What an export reads: one thread of a store, with its secrets replaced when that is asked for.
/// Every format reads through it, so that redaction holds in all of them. Holds the tree without
/// its texts; messages are read as they are needed. Not thread-safe.
class ExportSource {
 public:
  /// Throws `not_found` for a thread that does not exist and for a leaf that it does not show.
  ExportSource(const StateStore& store, const ThreadId& thread, const ExportOptions& options);

  const StateStore& store() const noexcept { return store_; }
  const Thread& thread() const noexcept { return thread_; }
  const ExportOptions& options() const noexcept { return options_; }
  bool redacts() const noexcept { return options_.redact; }

  /// By id, parents before children; without previews.
  const std::vector<TreeNode>& nodes() const noexcept { return nodes_; }
  /// Where the node of that id is; nothing when the thread does not show it.
  std::optional<std::size_t> index_of(MessageId id) const;
  /// The tip of the branch that the export follows; nothing for none.
  std::optional<MessageId> leaf() const noexcept { return leaf_; }
  /// Says of each node whether it is on the way from that tip to its root.
  const std::vector<bool>& on_branch() const noexcept { return on_branch_; }

  /// The message of the node. Cheap when called in about the order of ids.
  const Message& message(std::size_t node);
  /// The same for a list that shows it once more: it is not counted again.
  const Message& peek(std::size_t node);

  /// What an export writes of a text, and of a JSON text, of the thread's records.
  std::string text(const std::string& given);
  std::optional<std::string> text(const std::optional<std::string>& given);
  std::string json(const std::string& given);
  std::optional<std::string> json(const std::optional<std::string>& given);

  std::int64_t redacted() const noexcept { return redactor_.count(); }
  /// Messages given out whose bytes are not what was stored.
  std::int64_t damaged() const noexcept { return damaged_; }
  /// Messages given out so far, for reports.
  std::int64_t written() const noexcept { return written_; }

 private:
  Message read(std::size_t node);
  void clean(Message& message);

  StateStore store_;
  ExportOptions options_;
  Redactor redactor_;
  Thread thread_;
  std::vector<TreeNode> nodes_;
  std::optional<MessageId> leaf_;
  std::vector<bool> on_branch_;
  std::vector<Message> window_;  ///< read ahead
  std::size_t window_hits_ = 0;
  Message current_;
  std::int64_t damaged_ = 0;
  std::int64_t written_ = 0;
};

}  // namespace threadstore::exchange
