#include "threadstore/checkpoints.h"

#include "base/json.h"
#include "state/db/session.h"
#include "state/store_context.h"
#include "state/threads/keyset_cursor.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"
#include "threadstore/messages.h"

namespace threadstore {
namespace {

using state::KeysetCursor;

constexpr std::size_t kMaxStateBytes = 64u << 20;
constexpr const char* kLatestFirst =
    " ORDER BY created_at DESC, save_order DESC, checkpoint_id DESC";

// leaf_id: null remembers nothing, 0 an empty thread (component_checkpoints.cpp).
const std::string kSelect =
    "SELECT thread_id, checkpoint_id, state_json, created_at, leaf_id, save_order "
    "FROM checkpoints WHERE EXISTS (SELECT 1 FROM threads WHERE threads.id = checkpoints.thread_id"
    " AND " +
    std::string(state::thread_is_visible) + ") AND thread_id = ?";
constexpr int kSaveOrder = 5;

Checkpoint read_checkpoint(const db::Row& row) {
  const auto leaf = row.get<std::optional<MessageId>>(4);
  return {
      .thread_id = row.get<ThreadId>(0),
      .checkpoint_id = row.get<CheckpointId>(1),
      .state = row.text(2),
      .created_at = row.integer(3),
      .leaf_id = leaf == MessageId{0} ? std::nullopt : leaf,
      .restorable = leaf.has_value(),
      .state_damaged = false,
  };
}

std::string describe(const ThreadId& thread, const CheckpointId& id) {
  return "checkpoint '" + id.str() + "' of thread " + thread.str();
}

/// The first row of `sql`. Throws `damaged` when its state is not valid JSON.
std::optional<Checkpoint> read_one(db::Session& session, const std::string& sql,
                                   db::Values values) {
  auto checkpoint = session.one(sql, values, read_checkpoint);
  if (checkpoint) {
    base::check_json(checkpoint->state,
                     "the state of " + describe(checkpoint->thread_id, checkpoint->checkpoint_id),
                     ErrorCode::damaged);
  }
  return checkpoint;
}

std::optional<Checkpoint> find_in(db::Session& session, const ThreadId& thread,
                                  const CheckpointId& id) {
  return read_one(session, kSelect + " AND checkpoint_id = ?", {thread, id});
}

Checkpoint get_in(db::Session& session, const ThreadId& thread, const CheckpointId& id) {
  state::require_thread(session, thread);
  if (auto found = find_in(session, thread, id)) return *std::move(found);
  throw Error(ErrorCode::not_found, "there is no " + describe(thread, id));
}

}  // namespace

Checkpoints::Checkpoints(std::shared_ptr<state::StoreContext> context)
    : context_(std::move(context)) {}

Checkpoint Checkpoints::save(const ThreadId& thread, const NewCheckpoint& checkpoint) {
  const std::string what = describe(thread, checkpoint.id);
  if (checkpoint.id.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "a checkpoint of thread " + thread.str() + " needs a name: it is empty");
  }
  if (checkpoint.state.size() > kMaxStateBytes) {
    throw Error(ErrorCode::invalid_argument, "the state of " + what + " has " +
                                                 std::to_string(checkpoint.state.size()) +
                                                 " bytes, more than 64 MiB");
  }
  state::check_text(checkpoint.id.str(), "checkpoint_id");
  base::check_json(checkpoint.state, "the state of " + what);

  return context_->write_shared(checkpoint.state.size(), [&](db::Session& session) {
    state::require_thread(session, thread);
    std::optional<MessageId> leaf;
    if (checkpoint.remember_leaf) {
      leaf = session
                 .value<std::optional<MessageId>>(
                     "SELECT current_leaf_id FROM threads WHERE id = ?", {thread})
                 .value()
                 .value_or(MessageId{0});
    }
    // Above the first of the order, whatever the clock says.
    UnixSeconds created_at = context_->now_seconds();
    std::int64_t save_order = 1;
    session.each("SELECT created_at, save_order FROM checkpoints WHERE thread_id = ?" +
                     std::string(kLatestFirst) + " LIMIT 1",
                 {thread}, [&](const db::Row& latest) {
                   created_at = std::max(created_at, latest.integer(0));
                   save_order = latest.integer(1) + 1;
                 });
    // An overwritten one may have a higher number than the latest, when another program's clock
    // went back. A number that stays would tell the trigger that another program did this.
    session.run(R"(INSERT INTO checkpoints (thread_id, checkpoint_id, state_json, created_at,
                                            leaf_id, save_order)
                   VALUES (?, ?, ?, ?, ?, ?)
                   ON CONFLICT (thread_id, checkpoint_id) DO UPDATE SET
                     state_json = excluded.state_json, created_at = excluded.created_at,
                     leaf_id = excluded.leaf_id,
                     save_order = max(excluded.save_order, save_order + 1))",
                {thread, checkpoint.id, checkpoint.state, created_at, leaf, save_order});
    return Checkpoint{
        .thread_id = thread,
        .checkpoint_id = checkpoint.id,
        .state = checkpoint.state,
        .created_at = created_at,
        .leaf_id = leaf == MessageId{0} ? std::nullopt : leaf,
        .restorable = checkpoint.remember_leaf,
        .state_damaged = false,
    };
  });
}

std::optional<Checkpoint> Checkpoints::find(const ThreadId& thread, const CheckpointId& id) const {
  return context_->read([&](db::Session& session) { return find_in(session, thread, id); });
}

Checkpoint Checkpoints::get(const ThreadId& thread, const CheckpointId& id) const {
  return context_->read([&](db::Session& session) { return get_in(session, thread, id); });
}

std::optional<Checkpoint> Checkpoints::latest(const ThreadId& thread) const {
  return context_->read([&](db::Session& session) -> std::optional<Checkpoint> {
    return read_one(session, kSelect + kLatestFirst + " LIMIT 1", {thread});
  });
}

Page<Checkpoint> Checkpoints::list(const ThreadId& thread, const CheckpointFilter& filter) const {
  state::check_limit(filter.limit);
  const KeysetCursor after = state::KeysetCursor::parse(filter.after);
  return context_->read([&](db::Session& session) {
    state::require_thread(session, thread);
    Page<Checkpoint> page;
    KeysetCursor last;
    std::size_t bytes = 0;
    session.each(
        kSelect + " AND (created_at, save_order, checkpoint_id) < (?, ?, ?)" + kLatestFirst,
        {thread, after.at, after.order, after.id}, [&](const db::Row& row) {
          if (page.items.size() == filter.limit || bytes > kMaxStateBytes) {
            page.next = last.str();
            return false;
          }
          Checkpoint& item = page.items.emplace_back(read_checkpoint(row));
          item.state_damaged = base::find_json_fault(item.state).has_value();
          bytes += item.state.size();
          last = {item.created_at, row.integer(kSaveOrder), item.checkpoint_id.str()};
          return true;
        });
    return page;
  });
}

Checkpoint Checkpoints::restore(const ThreadId& thread, const CheckpointId& id,
                                const std::optional<LeaseToken>& lease) {
  // A fork's inherited path is read before the write lock is taken, and remembered.
  if (const auto leaf = get(thread, id).leaf_id) Messages(context_).find(thread, *leaf);
  return context_->write([&](db::Session& session) {
    Checkpoint checkpoint = get_in(session, thread, id);
    if (!checkpoint.restorable) {
      throw Error(ErrorCode::invalid_argument,
                  describe(thread, id) + " remembers no message to go back to: it was saved " +
                      "without one, or another program saved it");
    }
    Messages messages(context_);
    if (checkpoint.leaf_id && !messages.find(thread, *checkpoint.leaf_id)) {
      throw Error(ErrorCode::not_found, "message " + std::to_string(to_int(*checkpoint.leaf_id)) +
                                            ", to which " + describe(thread, id) +
                                            " goes back, was deleted: nothing was changed");
    }
    messages.set_current_leaf(thread, checkpoint.leaf_id, lease);
    return checkpoint;
  });
}

bool Checkpoints::remove(const ThreadId& thread, const CheckpointId& id) {
  return context_->write([&](db::Session& session) {
    state::require_thread(session, thread);
    return session.run("DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_id = ?",
                       {thread, id}) > 0;
  });
}

}  // namespace threadstore
