#include "cli/output/thread_json.h"

namespace threadstore::cli {

Json fork_origin_json(const std::optional<ForkOrigin>& origin) {
  if (!origin) return nullptr;
  return {{"thread_id", origin->thread_id.str()}, {"message_id", or_null(origin->message_id)}};
}

Json thread_json(const Thread& thread) {
  return {{"id", thread.id.str()},
          {"rollout_path", or_null(thread.rollout_path)},
          {"preview", thread.preview},
          {"ephemeral", thread.ephemeral},
          {"model_provider", thread.model_provider},
          {"created_at", thread.created_at},
          {"updated_at", thread.updated_at},
          {"status", to_word(thread.status)},
          {"path", or_null(thread.path)},
          {"cwd", thread.cwd},
          {"cli_version", thread.cli_version},
          {"source", to_word(thread.source)},
          {"name", or_null(thread.name)},
          {"sandbox_policy", or_null(thread.sandbox_policy)},
          {"approval_mode", or_null(thread.approval_mode)},
          {"archived", thread.archived},
          {"archived_at", or_null(thread.archived_at)},
          {"git_sha", or_null(thread.git_sha)},
          {"git_branch", or_null(thread.git_branch)},
          {"git_origin_url", or_null(thread.git_origin_url)},
          {"memory_mode", or_null(thread.memory_mode)},
          {"current_leaf_id", or_null(thread.current_leaf_id)},
          {"forked_from", fork_origin_json(thread.forked_from)}};
}

}  // namespace threadstore::cli
