#include "state/threads/message_append.h"

#include <nlohmann/json.hpp>

#include "state/leases/lease_token.h"
#include "state/threads/message_key.h"
#include "state/threads/message_record.h"
#include "state/threads/view.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

/// Where the chain goes.
struct Place {
  std::optional<MessageId> parent;
  std::optional<MessageId> leaf;  ///< the current one
  bool branched = false;          ///< beside the active branch: the current leaf stays
};

nlohmann::json leaf_json(std::optional<MessageId> leaf) {
  return leaf ? nlohmann::json(to_int(*leaf)) : nlohmann::json();
}

std::string leaf_text(std::optional<MessageId> leaf) {
  return leaf ? "message " + std::to_string(to_int(*leaf)) : std::string("no message");
}

[[noreturn]] void throw_leaf_conflict(const AppendCall& call, std::optional<MessageId> current,
                                      const std::string& why) {
  const std::optional<MessageId> expected = call.options.expected_leaf->leaf;
  throw Error(ErrorCode::conflict,
              "nothing was stored in thread " + call.thread.str() + ": expected to continue at " +
                  leaf_text(expected) + ", " + why,
              {{"thread_id", call.thread.str()},
               {"expected_leaf", leaf_json(expected)},
               {"current_leaf", leaf_json(current)}});
}

Place find_place(db::Session& session, const View& view, const AppendCall& call) {
  Place place;
  place.leaf = current_leaf(session, view);
  place.parent = call.parent ? call.parent : place.leaf;
  if (call.parent && !shows(session, view, *call.parent, call.path.get())) {
    throw_no_message(call.thread, *call.parent);
  }
  if (!call.options.expected_leaf || call.options.expected_leaf->leaf == place.leaf) return place;

  const std::optional<MessageId> expected = call.options.expected_leaf->leaf;
  if (expected && !shows(session, view, *expected, call.path.get())) {
    throw_leaf_conflict(call, place.leaf, "which the thread no longer shows");
  }
  if (call.options.on_conflict == OnConflict::fail) {
    throw_leaf_conflict(
        call, place.leaf,
        "but the thread goes on at " + leaf_text(place.leaf) + "; read what was added, or branch");
  }
  place.branched = true;
  if (!call.parent) place.parent = expected;
  return place;
}

/// Naming `updated_at` rewrites its indexes even when the value stays: it is named only when it
/// grows.
void move_thread(db::Session& session, const View& view, std::optional<MessageId> leaf,
                 UnixSeconds when) {
  if (leaf && when > view.updated_at) {
    session.run("UPDATE threads SET current_leaf_id = ?, updated_at = ? WHERE id = ?",
                {leaf, when, view.thread});
  } else if (leaf) {
    session.run("UPDATE threads SET current_leaf_id = ? WHERE id = ?", {leaf, view.thread});
  } else if (when > view.updated_at) {
    session.run("UPDATE threads SET updated_at = ? WHERE id = ?", {when, view.thread});
  }
}

}  // namespace

AppendCall prepare_append(StoreContext& context, const ThreadId& thread,
                          std::span<const NewMessage> messages, const AppendOptions& options,
                          std::optional<MessageId> parent) {
  if (messages.empty()) {
    throw Error(ErrorCode::invalid_argument, "append_many needs at least one message");
  }
  for (const NewMessage& message : messages) check_message(message);
  AppendCall call{.thread = thread,
                  .messages = messages,
                  .options = options,
                  .parent = parent,
                  .now = context.now_seconds()};
  if (options.key) {
    check_key(*options.key);
    call.request_hash = request_hash(messages, options, parent);
  }
  if (parent) call.path = path_to_judge(context, thread, *parent);
  const bool may_branch = options.expected_leaf && options.expected_leaf->leaf &&
                          options.on_conflict == OnConflict::branch;
  if (may_branch && !call.path) {
    call.path = path_to_judge(context, thread, *options.expected_leaf->leaf);
  }
  return call;
}

AppendedMany append_in(db::Session& session, const AppendCall& call) {
  const View view = open_view(session, call.thread);
  if (call.options.lease)
    check_token(session, LeaseKind::thread, call.thread.str(), *call.options.lease);
  if (call.options.key) {
    if (auto replay = find_replay(session, view, call)) return *std::move(replay);
  }
  const Place place = find_place(session, view, call);
  AppendedMany answer;
  answer.ids.reserve(call.messages.size());
  std::optional<MessageId> last_parent;
  std::optional<MessageId> parent = place.parent;
  UnixSeconds when = view.updated_at;
  for (const NewMessage& message : call.messages) {
    const UnixSeconds created_at = message.created_at.value_or(call.now);
    when = std::max(when, created_at);
    last_parent = parent;
    parent = insert_message(session, call.thread, message, created_at, parent);
    answer.ids.push_back(*parent);
  }
  answer.last = {.id = *parent,
                 .thread_id = call.thread,
                 .parent_entry_id = last_parent,
                 .branched = place.branched,
                 .replayed = false,
                 .current_leaf_id = place.branched ? place.leaf : parent};
  move_thread(session, view, place.branched ? std::nullopt : parent, when);
  if (call.options.key) store_key(session, call, answer);
  return answer;
}

}  // namespace threadstore::state
