#include "state/threads/message_record.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/utf8.h"
#include "state/threads/message_checksum.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

void check_utf8(const std::string& text, const char* field) {
  const auto offset = base::find_invalid_utf8(text);
  if (!offset) return;
  throw Error(ErrorCode::invalid_argument,
              std::string("the message's ") + field + " is not valid UTF-8 at byte " +
                  std::to_string(*offset) +
                  "; pass it through to_valid_utf8 to replace what is invalid",
              {{"field", field}, {"offset", *offset}});
}

}  // namespace

Message read_message(const db::Row& row, const ThreadId& shown_in) {
  Message message{
      .id = row.get<MessageId>(0),
      .thread_id = shown_in,
      .role = row.text(1),
      .content = row.text(2),
      .item = row.get<std::optional<std::string>>(3),
      .created_at = row.integer(4),
      .parent_entry_id = row.get<std::optional<MessageId>>(5),
  };
  message.item_damaged = message.item && base::find_json_fault(*message.item).has_value();
  message.checksum_mismatch =
      !row.is_null(6) &&
      row.integer(6) != message_checksum(message.role, message.content, message.item);
  return message;
}

void check_message(const NewMessage& message) {
  check_utf8(message.role, "role");
  check_utf8(message.content, "content");
  if (message.item) base::check_json(*message.item, "the message's item");
}

MessageId insert_message(db::Session& session, const ThreadId& owner, const NewMessage& message,
                         UnixSeconds created_at, std::optional<MessageId> parent) {
  constexpr std::string_view sql = R"sql(
    INSERT INTO messages(thread_id, role, content, item_json, created_at, parent_entry_id, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?))sql";
  return MessageId{
      session.insert(sql, {owner, message.role, message.content, message.item, created_at, parent,
                           message_checksum(message.role, message.content, message.item)})};
}

}  // namespace threadstore::state
