#include <nlohmann/json.hpp>

#include "base/rfc3339.h"
#include "exchange/codex_items.h"
#include "exchange/export_formats.h"
#include "exchange/foreign_ids.h"
#include "exchange/json_object.h"
#include "threadstore/version.h"

// A rollout in Codex's legacy mode, which every version reads: no ordinals and no byte offsets. It
// holds one branch. Settings (model, sandbox, approvals) are left out rather than made up: Codex
// takes the user's own.
namespace threadstore::exchange {
namespace {

void put(std::ostream& out, UnixSeconds time, std::string_view type, std::string_view payload) {
  out << JsonObject()
             .text("timestamp", std::string_view(base::format_rfc3339(time * 1000)))
             .text("type", type)
             .raw("payload", payload)
             .str()
      << '\n';
}

std::string git_of(const Thread& thread) {
  JsonObject git;
  if (thread.git_sha) git.text("commit_hash", thread.git_sha);
  if (thread.git_branch) git.text("branch", thread.git_branch);
  if (thread.git_origin_url) git.text("repository_url", thread.git_origin_url);
  return git.str();
}

void write_meta(const Thread& thread, std::ostream& out) {
  JsonObject meta;
  meta.text("id", std::string_view(uuid_for(thread.id.str())))
      .text("timestamp", std::string_view(base::format_rfc3339(thread.created_at * 1000)))
      .text("cwd", std::string_view(thread.cwd))
      .text("originator", std::string_view("threadstore"))
      .text("cli_version",
            thread.cli_version.empty() ? version() : std::string_view(thread.cli_version))
      .text("source", std::string_view("cli"));
  if (!thread.model_provider.empty()) {
    meta.text("model_provider", std::string_view(thread.model_provider));
  }
  meta.text("history_mode", std::string_view("legacy"));
  if (thread.forked_from) {
    meta.text("forked_from_id", std::string_view(uuid_for(thread.forked_from->thread_id.str())));
  }
  if (thread.git_sha || thread.git_branch || thread.git_origin_url) meta.raw("git", git_of(thread));
  put(out, thread.created_at, "session_meta", meta.str());
}

}  // namespace

void write_codex(ExportSource& source, std::ostream& out) {
  write_meta(source.thread(), out);
  for (std::size_t node = 0; node < source.nodes().size(); ++node) {
    if (!source.on_branch()[node]) continue;
    const Message& message = source.message(node);
    for (const CodexLine& line : codex_lines(message)) {
      put(out, message.created_at, line.type, line.payload);
    }
  }
}

}  // namespace threadstore::exchange
