#include "state/threads/message_key.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

class Fnv1a {
 public:
  void add(std::string_view bytes) {
    add(static_cast<std::int64_t>(bytes.size()));
    for (const char byte : bytes) add_byte(static_cast<unsigned char>(byte));
  }
  void add(std::int64_t number) {
    auto rest = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i, rest >>= 8) add_byte(static_cast<unsigned char>(rest & 0xff));
  }
  void add(const std::optional<MessageId>& id) { add(id ? to_int(*id) : -1); }

  std::string hex() const {
    std::string text(16, '0');
    std::uint64_t rest = hash_;
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, rest >>= 4) {
      *digit = "0123456789abcdef"[rest & 0xf];
    }
    return text;
  }

 private:
  void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3u; }

  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

[[noreturn]] void throw_key_conflict(const AppendCall& call, const char* why) {
  throw Error(ErrorCode::conflict,
              "nothing was stored: the key \"" + *call.options.key + "\" was used in thread " +
                  call.thread.str() + " " + why,
              {{"thread_id", call.thread.str()}, {"key", *call.options.key}});
}

}  // namespace

void check_key(const std::string& key) {
  if (!key.empty() && key.size() <= 200 && !base::find_invalid_utf8(key)) return;
  throw Error(
      ErrorCode::invalid_argument,
      "an idempotency key is 1 to 200 bytes of UTF-8; this one has " + std::to_string(key.size()));
}

std::string request_hash(std::span<const NewMessage> messages, const AppendOptions& options,
                         std::optional<MessageId> parent) {
  Fnv1a hash;
  hash.add(parent);
  hash.add(std::int64_t{options.expected_leaf ? 1 : 0});
  if (options.expected_leaf) {
    hash.add(options.expected_leaf->leaf);
    hash.add(static_cast<std::int64_t>(options.on_conflict));
  }
  for (const NewMessage& message : messages) {
    hash.add(std::string_view(message.role));
    hash.add(std::string_view(message.content));
    hash.add(std::int64_t{message.item ? 1 : 0});
    if (message.item) hash.add(std::string_view(*message.item));
  }
  return hash.hex();
}

std::optional<AppendedMany> find_replay(db::Session& session, const View& view,
                                        const AppendCall& call) {
  std::string hash;
  std::size_t count = 0;
  AppendedMany first;
  const auto found = session.one(
      R"sql(SELECT message_id, request_hash, message_count, branched, current_leaf_id
            FROM message_keys WHERE thread_id = ? AND key = ?)sql",
      {call.thread, *call.options.key}, [&](const db::Row& row) {
        hash = row.text(1);
        count = static_cast<std::size_t>(std::max<std::int64_t>(row.integer(2), 1));
        first.last = {.id = row.get<MessageId>(0),
                      .thread_id = call.thread,
                      .parent_entry_id = {},
                      .branched = row.get<bool>(3),
                      .replayed = true,
                      .current_leaf_id = row.get<std::optional<MessageId>>(4)};
        return true;
      });
  if (!found) return std::nullopt;
  if (hash != call.request_hash) throw_key_conflict(call, "for another request; choose a new key");
  std::optional<MessageId> next = first.last.id;
  while (first.ids.size() < count && next) {
    const MessageId id = *next;
    const bool shown = shows(session, view, id, nullptr);
    if (!shown) throw_key_conflict(call, "for a message that has been cleared since");
    first.ids.push_back(id);
    next = session
               .one("SELECT parent_entry_id FROM messages WHERE id = ?", {id},
                    [](const db::Row& row) { return row.get<std::optional<MessageId>>(0); })
               .value_or(std::nullopt);
    if (id == first.last.id) first.last.parent_entry_id = next;
  }
  std::reverse(first.ids.begin(), first.ids.end());
  return first;
}

void store_key(db::Session& session, const AppendCall& call, const AppendedMany& answer) {
  session.run(R"sql(
      INSERT INTO message_keys(thread_id, key, message_id, request_hash, message_count, branched,
                               current_leaf_id)
      VALUES (?, ?, ?, ?, ?, ?, ?))sql",
              {call.thread, *call.options.key, answer.last.id, call.request_hash,
               call.messages.size(), answer.last.branched, answer.last.current_leaf_id});
}

}  // namespace threadstore::state
