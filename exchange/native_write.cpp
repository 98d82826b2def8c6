#include <vector>

#include "base/rfc3339.h"
#include "exchange/export_formats.h"
#include "exchange/json_object.h"
#include "exchange/native_format.h"
#include "exchange/native_runs.h"
#include "threadstore/transfer.h"
#include "threadstore/version.h"

namespace threadstore::exchange {
namespace {

JsonObject line(std::string_view type) { return std::move(JsonObject().text("type", type)); }

void put(std::ostream& out, const JsonObject& object) { out << object.str() << '\n'; }

void write_thread(const Thread& thread, std::ostream& out) {
  JsonObject object = line("thread");
  object.text("id", thread.id.str())
      .text("name", thread.name)
      .text("preview", std::string_view(thread.preview))
      .text("cwd", std::string_view(thread.cwd))
      .text("status", to_word(thread.status))
      .text("source", to_word(thread.source))
      .text("model_provider", std::string_view(thread.model_provider))
      .text("cli_version", std::string_view(thread.cli_version))
      .number("created_at", thread.created_at)
      .number("updated_at", thread.updated_at)
      .boolean("archived", thread.archived)
      .number("archived_at", thread.archived_at)
      .boolean("ephemeral", thread.ephemeral)
      .text("rollout_path", thread.rollout_path)
      .text("path", thread.path)
      .text("sandbox_policy", thread.sandbox_policy)
      .text("approval_mode", thread.approval_mode)
      .text("git_sha", thread.git_sha)
      .text("git_branch", thread.git_branch)
      .text("git_origin_url", thread.git_origin_url)
      .text("memory_mode", thread.memory_mode)
      .number("current_leaf_id", thread.current_leaf_id);
  if (thread.forked_from) {
    JsonObject origin;
    origin.text("thread_id", thread.forked_from->thread_id.str())
        .number("message_id", thread.forked_from->message_id);
    object.raw("forked_from", origin.str());
  } else {
    object.null("forked_from");
  }
  put(out, object);
}

void write_message(const Message& message, const std::optional<std::string>& key,
                   std::ostream& out) {
  JsonObject object = line("message");
  object.number("id", to_int(message.id))
      .number("parent_entry_id", message.parent_entry_id)
      .text("key", key)
      .text("role", std::string_view(message.role))
      .number("created_at", message.created_at)
      .text("content", std::string_view(message.content));
  if (message.item) {
    add_json(object, "item", *message.item);
  } else {
    object.null("item");
  }
  if (message.item_damaged) {
    object.text("damaged", std::string_view("item"));
  } else if (message.checksum_mismatch) {
    object.text("damaged", std::string_view("checksum"));
  }
  put(out, object);
}

/// Oldest first: the order in which they were saved. One state is in memory at a time.
void write_checkpoints(ExportSource& source, std::ostream& out) {
  const Checkpoints checkpoints = source.store().checkpoints();
  const ThreadId& thread = source.thread().id;
  std::vector<Checkpoint> all;
  CheckpointFilter filter;
  do {
    auto page = checkpoints.list(thread, filter);
    for (Checkpoint& checkpoint : page.items) {
      if (!checkpoint.state_damaged) std::string().swap(checkpoint.state);
      all.push_back(std::move(checkpoint));
    }
    filter.after = page.next;
  } while (filter.after);
  for (auto checkpoint = all.rbegin(); checkpoint != all.rend(); ++checkpoint) {
    if (!checkpoint->state_damaged) {
      const auto now = checkpoints.find(thread, checkpoint->checkpoint_id);
      if (!now) continue;  // removed since
      *checkpoint = *now;
    }
    JsonObject object = line("checkpoint");
    object.text("checkpoint_id", checkpoint->checkpoint_id.str())
        .number("created_at", checkpoint->created_at)
        .number("leaf_id", checkpoint->leaf_id)
        .boolean("restorable", checkpoint->restorable);
    add_json(object, "state", source.json(checkpoint->state));
    put(out, object);
    std::string().swap(checkpoint->state);
  }
}

void write_tools(ExportSource& source, std::ostream& out) {
  for (const Tool& tool : source.store().tools().list(source.thread().id)) {
    JsonObject object = line("tool");
    object.number("position", tool.position)
        .text("name", std::string_view(tool.name))
        .text("description", source.text(tool.description));
    add_json(object, "input_schema", source.json(tool.input_schema));
    put(out, object);
  }
}

void write_goal(ExportSource& source, std::ostream& out) {
  const auto goal = source.store().goals().find(source.thread().id);
  if (!goal) return;
  JsonObject object = line("goal");
  object.text("goal_id", goal->goal_id.str())
      .text("objective", std::string_view(source.text(goal->objective)))
      .text("status", to_word(goal->status))
      .number("token_budget", goal->token_budget)
      .number("tokens_used", goal->tokens_used)
      .number("time_used_seconds", goal->time_used_seconds)
      .number("created_at", goal->created_at)
      .number("updated_at", goal->updated_at)
      .number("continuation_count", goal->continuation_count)
      .text("last_gap_fingerprint", goal->last_gap_fingerprint)
      .number("repeated_gap_count", goal->repeated_gap_count)
      .number("last_gap_pass", goal->last_gap_pass);
  if (goal->pause_reason) {
    object.text("pause_reason", to_word(*goal->pause_reason));
  } else {
    object.null("pause_reason");
  }
  put(out, object);
}

}  // namespace

void write_native(ExportSource& source, std::ostream& out) {
  JsonObject head = line(native_type);
  head.number("version", std::int64_t{native_version})
      .text("program", "threadstore " + std::string(version()))
      .text("exported_at", base::format_rfc3339(system_clock()()))
      .boolean("redacted", source.redacts());
  put(out, head);
  write_thread(source.thread(), out);
  const auto keys = Transfer(source.store()).keys_of(source.thread().id);
  auto key = keys.begin();
  for (std::size_t node = 0; node < source.nodes().size(); ++node) {
    const MessageId id = source.nodes()[node].id;
    while (key != keys.end() && to_int(key->first) < to_int(id)) ++key;
    const bool known = key != keys.end() && key->first == id;
    write_message(source.message(node), known ? std::optional(key->second) : std::nullopt, out);
  }
  write_checkpoints(source, out);
  write_tools(source, out);
  write_goal(source, out);
  write_runs(source, out);
  put(out, line("end").number("messages", source.written()));
}

}  // namespace threadstore::exchange
