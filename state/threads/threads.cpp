#include "threadstore/threads.h"

#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "state/threads/index_queue.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore {

using state::StoreContext;

namespace {

/// What the session index knows of a thread.
bool same_index_line(const Thread& a, const Thread& b) {
  return a.name == b.name && a.rollout_path == b.rollout_path;
}

Thread new_thread(const NewThread& wanted, UnixMillis now) {
  const UnixSeconds created_at = wanted.created_at.value_or(now / 1000);
  return {
      .id = wanted.id ? *wanted.id : ThreadId(base::make_uuid_v7(now)),
      .rollout_path = wanted.rollout_path,
      .preview = wanted.preview,
      .ephemeral = wanted.ephemeral,
      .model_provider = wanted.model_provider,
      .created_at = created_at,
      .updated_at = wanted.updated_at.value_or(created_at),
      .status = ThreadStatus::idle,
      .path = wanted.path,
      .cwd = wanted.cwd,
      .cli_version = wanted.cli_version,
      .source = wanted.source,
      .name = wanted.name,
      .sandbox_policy = wanted.sandbox_policy,
      .approval_mode = wanted.approval_mode,
      .archived = false,
      .archived_at = {},
      .git_sha = wanted.git_sha,
      .git_branch = wanted.git_branch,
      .git_origin_url = wanted.git_origin_url,
      .memory_mode = wanted.memory_mode,
      .current_leaf_id = {},
      .forked_from = {},
  };
}

/// A thread that is being removed stays removed: its row goes as soon as its messages are gone.
void refuse_half_removed(db::Session& session, const ThreadId& id) {
  if (!session.exists("SELECT 1 FROM thread_removals WHERE thread_id = ? AND kind = 'remove'",
                      {id})) {
    return;
  }
  throw Error(ErrorCode::conflict,
              "cannot store thread " + id.str() + ": a thread of that id is just being removed",
              {{"thread_id", id.str()}});
}

}  // namespace

Threads::Threads(std::shared_ptr<StoreContext> context) : context_(std::move(context)) {}

ThreadChange Threads::create(const NewThread& wanted) {
  const auto deadline = base::Deadline::after(context_->deadline);
  ThreadChange change{.thread = new_thread(wanted, context_->now_millis())};
  state::check_thread(change.thread);
  // An id that is made here was never in use.
  const auto line = wanted.id ? state::IndexLine::revival : state::IndexLine::change;
  context_->write([&](db::Session& session) {
    state::insert_thread(session, change.thread);
    state::queue_index_line(session, change.thread.id, line);
  });
  change.index_pending = state::index_stays_behind(context_, deadline);
  return change;
}

ThreadChange Threads::upsert(const Thread& thread) {
  const auto deadline = base::Deadline::after(context_->deadline);
  state::check_thread(thread);
  ThreadChange change;
  change.thread = context_->write([&](db::Session& session) {
    refuse_half_removed(session, thread.id);
    state::upsert_thread(session, thread);
    state::queue_index_line(session, thread.id, state::IndexLine::revival);
    return state::get_thread(*context_, session, thread.id);
  });
  change.index_pending = state::index_stays_behind(context_, deadline);
  return change;
}

ThreadChange Threads::update(const ThreadId& id, const ThreadPatch& patch) {
  const auto deadline = base::Deadline::after(context_->deadline);
  ThreadChange change;
  bool index_line_changed = false;
  change.thread = context_->write([&](db::Session& session) {
    const Thread before = state::get_thread(*context_, session, id);
    state::apply_patch(session, id, patch);
    Thread after = state::get_thread(*context_, session, id);
    index_line_changed = !same_index_line(before, after);
    if (index_line_changed) state::queue_index_line(session, id);
    return after;
  });
  change.index_pending = index_line_changed && state::index_stays_behind(context_, deadline);
  return change;
}

ThreadChange Threads::rename(const ThreadId& id, const std::string& name) {
  if (name.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "cannot rename thread " + id.str() + ": the name is empty; clear it with update");
  }
  return update(id, {.name = name});
}

Thread Threads::touch(const ThreadId& id, std::optional<std::string> preview,
                      std::optional<UnixSeconds> when) {
  if (preview) state::check_text(*preview, "preview");
  const UnixSeconds time = when.value_or(context_->now_seconds());
  return context_->write([&](db::Session& session) {
    state::require_thread(session, id);
    // Naming updated_at rewrites four index entries even when its value stays: two statements.
    session.run("UPDATE threads SET updated_at = ? WHERE id = ? AND updated_at < ?",
                {time, id, time});
    if (preview) session.run("UPDATE threads SET preview = ? WHERE id = ?", {*preview, id});
    return state::get_thread(*context_, session, id);
  });
}

void Threads::set_status(const ThreadId& id, ThreadStatus status) {
  if (status == ThreadStatus::archived) {
    throw Error(ErrorCode::invalid_argument,
                "cannot set the status of thread " + id.str() + " to archived: use archive");
  }
  context_->write([&](db::Session& session) {
    state::require_thread(session, id);
    session.run(
        "UPDATE threads SET status = ? WHERE id = ? AND status <> 'archived' AND status <> ?",
        {status, id, status});
  });
}

void Threads::set_memory_mode(const ThreadId& id, std::optional<std::string> mode) {
  if (mode) state::check_text(*mode, "memory_mode");
  context_->write([&](db::Session& session) {
    state::require_thread(session, id);
    session.run("UPDATE threads SET memory_mode = ? WHERE id = ?", {mode, id});
  });
}

bool Threads::archive(const ThreadId& id) {
  static const std::string sql = std::string(R"sql(
    UPDATE threads SET archived = 1, archived_at = ?, status = 'archived' WHERE id = ? AND)sql") +
                                 state::thread_is_visible;
  return context_->write([&](db::Session& session) {
    return session.run(sql, {context_->now_seconds(), id}) != 0;
  });
}

bool Threads::unarchive(const ThreadId& id) {
  static const std::string sql = std::string(R"sql(
    UPDATE threads SET archived = 0, archived_at = NULL,
                       status = CASE status WHEN 'archived' THEN 'idle' ELSE status END
    WHERE id = ? AND)sql") + state::thread_is_visible;
  return context_->write([&](db::Session& session) { return session.run(sql, {id}) != 0; });
}

}  // namespace threadstore
