#pragma once

#include <optional>
#include <string>

#include "threadstore/state_store.h"

namespace threadstore::cli {

/// MESSAGE: an id, `@leaf`, or `@-N` (N before the leaf on the active branch). Whether an id is in
/// the thread is left to the call that uses it. Throws `not_found` when the branch is too short.
MessageId find_message(const StateStore& store, const Thread& thread, const std::string& given);
std::optional<MessageId> find_message(const StateStore& store, const Thread& thread,
                                      const std::optional<std::string>& given);

/// The same, or `none`.
std::optional<MessageId> find_message_or_none(const StateStore& store, const Thread& thread,
                                              const std::string& given);

/// A message's number: "17". Throws `invalid_argument`.
MessageId parse_message_id(const std::string& given);

}  // namespace threadstore::cli
