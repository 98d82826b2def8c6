#include "state/threads/thread_record.h"

namespace threadstore::state {
namespace {

/// Writes one column, and only that: what other processes wrote to the rest stays.
void set_column(db::Session& session, const ThreadId& id, const char* column, db::Value value) {
  const std::string sql = std::string("UPDATE threads SET ") + column + " = ? WHERE id = ?";
  session.run(sql, {value, id});
}

}  // namespace

void apply_patch(db::Session& session, const ThreadId& id, const ThreadPatch& patch) {
  const auto nullable = [&](const char* column, const char* field,
                            const Patch<std::string>& change) {
    if (!change.changes()) return;
    if (change.value()) check_text(*change.value(), field);
    set_column(session, id, column, change.value());
  };
  const auto required = [&](const char* column, const std::optional<std::string>& value) {
    if (!value) return;
    check_text(*value, column);
    set_column(session, id, column, *value);
  };
  nullable("title", "name", patch.name);
  nullable("rollout_path", "rollout_path", patch.rollout_path);
  nullable("path", "path", patch.path);
  nullable("sandbox_policy", "sandbox_policy", patch.sandbox_policy);
  nullable("approval_mode", "approval_mode", patch.approval_mode);
  nullable("git_sha", "git_sha", patch.git_sha);
  nullable("git_branch", "git_branch", patch.git_branch);
  nullable("git_origin_url", "git_origin_url", patch.git_origin_url);
  nullable("memory_mode", "memory_mode", patch.memory_mode);
  required("preview", patch.preview);
  required("cwd", patch.cwd);
  required("model_provider", patch.model_provider);
  required("cli_version", patch.cli_version);
}

}  // namespace threadstore::state
