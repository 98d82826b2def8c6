#include "state/threads/thread_record.h"

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "state/leases/lease_file.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

// Every stored column but the leaf, in the order of the table and of `Thread`.
constexpr const char* columns =
    "id, rollout_path, preview, ephemeral, model_provider, created_at, updated_at, status, path, "
    "cwd, cli_version, source, title, sandbox_policy, approval_mode, archived, archived_at, "
    "git_sha, git_branch, git_origin_url, memory_mode";

/// Runs `sql`, whose first 22 parameters are the thread's columns and its leaf, in order.
std::int64_t run_with_columns(db::Session& session, const std::string& sql, const Thread& thread) {
  return session.run(sql, {thread.id,
                           thread.rollout_path,
                           thread.preview,
                           thread.ephemeral,
                           thread.model_provider,
                           thread.created_at,
                           thread.updated_at,
                           thread.status,
                           thread.path,
                           thread.cwd,
                           thread.cli_version,
                           thread.source,
                           thread.name,
                           thread.sandbox_policy,
                           thread.approval_mode,
                           thread.archived,
                           thread.archived_at,
                           thread.git_sha,
                           thread.git_branch,
                           thread.git_origin_url,
                           thread.memory_mode,
                           thread.current_leaf_id});
}

const std::string insert_columns =
    std::string("INSERT INTO threads(") + columns +
    ", current_leaf_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ";

/// A stored `running` is a promise of a process; when that process held a lease and is dead, the
/// work was interrupted. Without a lease of ours the word stands: other programs take none.
bool is_interrupted(StoreContext& context, ThreadStatus status, std::optional<std::int64_t> slot) {
  return status == ThreadStatus::running && slot && context.leases &&
         !context.leases->is_held(*slot);
}

}  // namespace

const std::string select_threads = std::string(R"sql(
  SELECT threads.id, rollout_path, preview, ephemeral, model_provider, threads.created_at,
         updated_at, status, path, cwd, cli_version, source, title, sandbox_policy, approval_mode,
         archived, archived_at, git_sha, git_branch, git_origin_url, memory_mode, current_leaf_id,
         thread_forks.source_thread_id, thread_forks.message_id, leases.slot
  FROM threads
  LEFT JOIN thread_forks ON thread_forks.thread_id = threads.id
  LEFT JOIN leases ON leases.kind = 'thread' AND leases.id = threads.id
  WHERE)sql") + thread_is_visible;

Thread read_thread(StoreContext& context, const db::Row& row) {
  const auto status = from_word<ThreadStatus>(row.view(7)).value_or(ThreadStatus::idle);
  std::optional<ForkOrigin> origin;
  if (!row.is_null(22)) {
    origin = ForkOrigin{row.get<ThreadId>(22), row.get<std::optional<MessageId>>(23)};
  }
  return {
      .id = row.get<ThreadId>(0),
      .rollout_path = row.get<std::optional<std::string>>(1),
      .preview = row.text(2),
      .ephemeral = row.get<bool>(3),
      .model_provider = row.text(4),
      .created_at = row.integer(5),
      .updated_at = row.integer(6),
      .status = status,
      .path = row.get<std::optional<std::string>>(8),
      .cwd = row.text(9),
      .cli_version = row.text(10),
      .source = from_word<SessionSource>(row.view(11)).value_or(SessionSource::unknown),
      .name = row.get<std::optional<std::string>>(12),
      .sandbox_policy = row.get<std::optional<std::string>>(13),
      .approval_mode = row.get<std::optional<std::string>>(14),
      .archived = row.get<bool>(15),
      .archived_at = row.get<std::optional<std::int64_t>>(16),
      .git_sha = row.get<std::optional<std::string>>(17),
      .git_branch = row.get<std::optional<std::string>>(18),
      .git_origin_url = row.get<std::optional<std::string>>(19),
      .memory_mode = row.get<std::optional<std::string>>(20),
      .current_leaf_id = row.get<std::optional<MessageId>>(21),
      .forked_from = std::move(origin),
      .interrupted = is_interrupted(context, status, row.get<std::optional<std::int64_t>>(24)),
  };
}

std::optional<Thread> find_thread(StoreContext& context, db::Session& session, const ThreadId& id) {
  static const std::string sql = select_threads + " AND threads.id = ?";
  return session.one(sql, {id}, [&](const db::Row& row) { return read_thread(context, row); });
}

Thread get_thread(StoreContext& context, db::Session& session, const ThreadId& id) {
  auto thread = find_thread(context, session, id);
  if (!thread) throw_no_thread(id);
  return *std::move(thread);
}

void require_thread(db::Session& session, const ThreadId& id) {
  static const std::string sql =
      std::string("SELECT 1 FROM threads WHERE id = ? AND") + thread_is_visible;
  if (!session.exists(sql, {id})) throw_no_thread(id);
}

void throw_no_thread(const ThreadId& id) {
  throw Error(
      ErrorCode::not_found,
      "there is no thread " + id.str() + " (it may have been removed; list shows what exists)",
      {{"thread_id", id.str()}});
}

void insert_thread(db::Session& session, const Thread& thread) {
  static const std::string sql = insert_columns + "ON CONFLICT(id) DO NOTHING";
  if (run_with_columns(session, sql, thread) != 0) return;
  throw Error(ErrorCode::conflict,
              "cannot make thread " + thread.id.str() + ": a thread with that id exists already",
              {{"thread_id", thread.id.str()}});
}

void upsert_thread(db::Session& session, const Thread& thread) {
  static const std::string sql = insert_columns + R"sql(
    ON CONFLICT(id) DO UPDATE SET
      rollout_path = excluded.rollout_path, preview = excluded.preview,
      ephemeral = excluded.ephemeral, model_provider = excluded.model_provider,
      created_at = excluded.created_at, updated_at = excluded.updated_at,
      status = excluded.status, path = excluded.path, cwd = excluded.cwd,
      cli_version = excluded.cli_version, source = excluded.source, title = excluded.title,
      sandbox_policy = excluded.sandbox_policy, approval_mode = excluded.approval_mode,
      archived = excluded.archived, archived_at = excluded.archived_at,
      git_sha = excluded.git_sha, git_branch = excluded.git_branch,
      git_origin_url = excluded.git_origin_url, memory_mode = excluded.memory_mode)sql";
  Thread row = thread;
  row.current_leaf_id.reset();  // a new row starts empty; an old one keeps its leaf
  run_with_columns(session, sql, row);
}

void check_text(const std::string& text, const char* field) {
  const auto offset = base::find_invalid_utf8(text);
  if (!offset) return;
  throw Error(ErrorCode::invalid_argument,
              std::string("the thread's ") + field + " is not valid UTF-8 at byte " +
                  std::to_string(*offset) + "; pass it through to_valid_utf8 first",
              {{"field", field}, {"offset", *offset}});
}

void check_thread(const Thread& thread) {
  if (thread.id.empty()) throw Error(ErrorCode::invalid_argument, "a thread id cannot be empty");
  const auto check_optional = [](const std::optional<std::string>& text, const char* field) {
    if (text) check_text(*text, field);
  };
  check_text(thread.id.str(), "id");
  check_optional(thread.rollout_path, "rollout_path");
  check_text(thread.preview, "preview");
  check_text(thread.model_provider, "model_provider");
  check_optional(thread.path, "path");
  check_text(thread.cwd, "cwd");
  check_text(thread.cli_version, "cli_version");
  check_optional(thread.name, "name");
  check_optional(thread.sandbox_policy, "sandbox_policy");
  check_optional(thread.approval_mode, "approval_mode");
  check_optional(thread.git_sha, "git_sha");
  check_optional(thread.git_branch, "git_branch");
  check_optional(thread.git_origin_url, "git_origin_url");
  check_optional(thread.memory_mode, "memory_mode");
}

}  // namespace threadstore::state
