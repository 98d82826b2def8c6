#pragma once

#include <optional>
#include <string>

#include "state/threads/message_append.h"
#include "state/threads/view.h"

namespace threadstore::state {

/// Throws `invalid_argument` unless the key is 1 to 200 bytes of valid UTF-8.
void check_key(const std::string& key);

/// What tells two requests with one key apart: 64-bit FNV-1a, in hexadecimal, over place,
/// expectation and every message's role, content and item. It need not resist an attacker, who
/// could as well choose another key; an accident has a chance of 2^-64.
std::string request_hash(std::span<const NewMessage> messages, const AppendOptions& options,
                         std::optional<MessageId> parent);

/// The first answer to the call's key, marked `replayed`; nothing when the key is new. Throws
/// `conflict` when the key stands for another request, or its messages have been cleared since.
std::optional<AppendedMany> find_replay(db::Session& session, const View& view,
                                        const AppendCall& call);

/// Remembers the answer under the call's key, in the transaction that stored the messages.
void store_key(db::Session& session, const AppendCall& call, const AppendedMany& answer);

}  // namespace threadstore::state
