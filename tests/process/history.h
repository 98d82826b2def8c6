#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/state_store.h"

namespace threadstore::test {

/// What the writers of a swarm (`process_actor write`) were told is durable, and whether a store
/// holds to it. Each writer appends words "r<round>w<writer>-<number>" to a thread of its own and
/// to one that all share, and renames its own; the number counts from 0 in every round.
class History {
 public:
  History(std::vector<ThreadId> own, ThreadId shared)
      : own_(std::move(own)), shared_(std::move(shared)), names_(own_.size()) {}

  /// A line that the writer said: "own ID WORD", "shared ID WORD" or "named WORD".
  void acknowledge(std::size_t writer, const std::string& line);

  std::size_t size() const { return count_; }

  /// Every promise that the store breaks, a sentence each:
  /// 1. an acknowledged message is in its thread, with its id and text;
  /// 2. no word is in a thread twice, and none is missing before a later one of its writer;
  /// 3. every message but the first has the one before it as its parent;
  /// 4. the thread's leaf is its last message;
  /// 5. the name is the last acknowledged one, or one that was given after it.
  std::vector<std::string> violations(const StateStore& store) const;

 private:
  using Messages = std::map<MessageId, std::string>;
  static void check_thread(const StateStore& store, const ThreadId& thread,
                           const Messages& acknowledged, std::vector<std::string>& found);

  std::vector<ThreadId> own_;
  ThreadId shared_;
  std::map<ThreadId, Messages> acknowledged_;
  std::vector<std::optional<std::string>> names_;  ///< the last one of each writer
  std::size_t count_ = 0;
};

}  // namespace threadstore::test
