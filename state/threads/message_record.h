#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "state/db/session.h"
#include "threadstore/messages.h"

namespace threadstore::state {

/// The columns that `read_message` reads, in its order, of the table `messages AS m`.
inline constexpr std::string_view message_columns =
    "m.id, m.role, m.content, m.item_json, m.created_at, m.parent_entry_id, m.checksum, "
    "m.thread_id";

/// Reads a row of those columns as a message of the thread in whose view it is shown. Checks the
/// checksum where the writer left one, and that the item is JSON: what is wrong is flagged, never
/// thrown, so that damage costs only that message.
Message read_message(const db::Row& row, const ThreadId& shown_in);

/// The column of a row of those columns that names the owner.
inline constexpr int owner_column = 7;

/// Throws `invalid_argument` naming the field and the offset of what is not UTF-8 or not JSON.
void check_message(const NewMessage& message);

/// Stores the message as its owner's and returns its id.
MessageId insert_message(db::Session& session, const ThreadId& owner, const NewMessage& message,
                         UnixSeconds created_at, std::optional<MessageId> parent);

}  // namespace threadstore::state
