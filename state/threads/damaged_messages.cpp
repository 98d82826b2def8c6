#include "state/threads/damaged_messages.h"

#include "state/threads/message_record.h"

namespace threadstore {
namespace state {
namespace {

constexpr int kBatch = 500;  // one snapshot reads at most so many messages

}  // namespace

std::vector<DamagedMessage> find_damaged_messages(StoreContext& context, const Progress& progress) {
  std::vector<DamagedMessage> found;
  const auto newest = context.read([](db::Session& session) {
    return session.value<std::int64_t>("SELECT coalesce(max(id), 0) FROM messages").value_or(0);
  });
  MessageId last{};
  for (bool more = true; more;) {
    more = false;
    context.read([&](db::Session& session) {
      session.each("SELECT " + std::string(message_columns) +
                       " FROM messages AS m WHERE m.id > ? ORDER BY m.id LIMIT ?",
                   {last, kBatch}, [&](const db::Row& row) {
                     const Message message = read_message(row, row.get<ThreadId>(owner_column));
                     more = true;
                     last = message.id;
                     if (!message.item_damaged && !message.checksum_mismatch) return;
                     found.push_back({.id = message.id,
                                      .thread_id = message.thread_id,
                                      .item_damaged = message.item_damaged,
                                      .checksum_mismatch = message.checksum_mismatch});
                   });
    });
    if (progress && more) progress(to_int(last), newest);
  }
  return found;
}

}  // namespace state

std::vector<DamagedMessage> Messages::find_damaged(const Progress& progress) const {
  return state::find_damaged_messages(*context_, progress);
}

}  // namespace threadstore
