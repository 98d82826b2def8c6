#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

namespace threadstore {

/// A text id that cannot be swapped with an id of another kind. Any non-empty UTF-8 text is legal;
/// ids that the store makes are UUIDv7.
template <class Tag>
class TextId {
 public:
  TextId() = default;
  explicit TextId(std::string value) : value_(std::move(value)) {}

  const std::string& str() const noexcept { return value_; }
  bool empty() const noexcept { return value_.empty(); }

  friend bool operator==(const TextId&, const TextId&) = default;
  friend auto operator<=>(const TextId&, const TextId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const TextId& id) { return out << id.value_; }

 private:
  std::string value_;
};

using ThreadId = TextId<struct ThreadIdTag>;
using CheckpointId = TextId<struct CheckpointIdTag>;
using JobId = TextId<struct JobIdTag>;
using GoalId = TextId<struct GoalIdTag>;
using RunId = TextId<struct RunIdTag>;
using CallId = TextId<struct CallIdTag>;
using WorkflowRunId = TextId<struct WorkflowRunIdTag>;

/// A message's number: unique in the store, never re-used, growing with insertion.
enum class MessageId : std::int64_t {};

constexpr std::int64_t to_int(MessageId id) noexcept { return static_cast<std::int64_t>(id); }
inline std::ostream& operator<<(std::ostream& out, MessageId id) { return out << to_int(id); }

}  // namespace threadstore

template <class Tag>
struct std::hash<threadstore::TextId<Tag>> {
  std::size_t operator()(const threadstore::TextId<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.str());
  }
};
