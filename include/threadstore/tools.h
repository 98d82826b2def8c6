#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"

namespace threadstore {

namespace state {
struct StoreContext;
}

/// A tool that a thread's model may call: a row of `thread_dynamic_tools`.
struct Tool {
  std::optional<std::int64_t> position{};  ///< default on writing: its place in the list, from 0
  std::string name{};
  std::optional<std::string> description{};
  std::string input_schema = "{}";  ///< any JSON value, as the writer gave it, byte for byte

  friend bool operator==(const Tool&, const Tool&) = default;
};

/// The dynamic tools of a store's threads. A light handle like `Threads`; every call is atomic.
class Tools {
 public:
  /// Replaces all tools of the thread. Two tools at one position, an empty name or a schema that is
  /// not valid JSON are `invalid_argument`, a missing thread `not_found`; then nothing changed.
  void replace(const ThreadId& thread, const std::vector<Tool>& tools);

  /// By position. Damaged JSON is `damaged`, naming thread and tool. Throws `not_found` for a
  /// missing thread.
  std::vector<Tool> list(const ThreadId& thread) const;

 private:
  friend class StateStore;
  explicit Tools(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
