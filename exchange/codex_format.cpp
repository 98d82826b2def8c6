#include "exchange/codex_format.h"

#include "base/json.h"
#include "base/rfc3339.h"
#include "exchange/codex_base.h"
#include "exchange/codex_home.h"
#include "exchange/codex_reader.h"
#include "exchange/import_job.h"
#include "exchange/json_lines.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;

bool is_session_meta(JsonText line) {
  return line["type"].raw() == "\"session_meta\"" && line["payload"].is_object();
}

/// A rollout whose first line is lost.
bool is_other_line(JsonText line) {
  const std::string type = line["type"].string();
  return line["payload"].is_object() && line["timestamp"].is_string() &&
         (type == "response_item" || type == "event_msg" || type == "turn_context");
}

JsonText first_session_meta(const std::vector<std::string_view>& objects) {
  for (const std::string_view object : objects) {
    if (is_session_meta(JsonText(object))) return JsonText(object);
  }
  return {};
}

SessionSource source_of(JsonText source) {
  if (source.string() == "cli") return SessionSource::interactive;
  return source.present() && !source.is_null() ? SessionSource::api : SessionSource::unknown;
}

std::vector<Tool> tools_of(JsonText list) {
  std::vector<Tool> tools;
  list.each([&](JsonText tool) {
    const std::string name = tool["name"].string();
    if (name.empty()) return;
    const JsonText schema = tool["inputSchema"];
    tools.push_back({.position = {},
                     .name = name,
                     .description = tool["description"].string_or_none(),
                     .input_schema = schema.present() ? std::string(schema.raw()) : "{}"});
  });
  return tools;
}

NewThread thread_of(JsonText meta, const Path& file) {
  const JsonText git = meta["git"];
  return {.cwd = meta["cwd"].string(),
          .model_provider = meta["model_provider"].string(),
          .cli_version = meta["cli_version"].string(),
          .source = source_of(meta["source"]),
          .rollout_path = file.string(),
          .git_sha = git["commit_hash"].string_or_none(),
          .git_branch = git["branch"].string_or_none(),
          .git_origin_url = git["repository_url"].string_or_none(),
          .memory_mode = meta["memory_mode"].string_or_none(),
          .created_at = base::parse_rfc3339(meta["timestamp"].string())};
}

class CodexFormat : public Format {
 public:
  std::string_view name() const override { return "a Codex rollout"; }

  bool recognises(const Head& head) const override {
    for (const std::string_view object : head.objects()) {
      if (is_session_meta(JsonText(object)) || is_other_line(JsonText(object))) return true;
    }
    return false;
  }

  Identity identify(const Head& head) override {
    Identity identity;
    const auto objects = head.objects();
    const JsonText line = first_session_meta(objects);
    const JsonText meta = line["payload"];
    const CodexFileName file_name = read_codex_file_name(head.file);
    identity.session = meta["id"].string();
    if (identity.session.empty()) identity.session = file_name.thread;
    const auto base = read_codex_base(meta);
    rollouts_.add({.file = head.file,
                   .thread = identity.session,
                   .segment = file_name.segment,
                   .first_ordinal = line["ordinal"].integer().value_or(0),
                   .base = base});
    for (const std::string& source :
         {base ? base->thread : std::string(), meta["forked_from_id"].string()}) {
      if (source.empty()) continue;
      identity.needs.push_back(source);
      identity.companions = homes_.rollouts(head.file, source);
    }
    return identity;
  }

  void read(const Path& file, ImportJob& job) override {
    const CodexFileName file_name = read_codex_file_name(file);
    CodexReader reader(file, file_name.segment, job);
    SessionEnd end{.archived = CodexHomes::is_archived(file)};
    std::string id;
    each_json_line(file, job, [&](JsonText line, std::int64_t number) {
      if (id.empty()) {
        const bool own = is_session_meta(line);
        id = own ? line["payload"]["id"].string() : file_name.thread;
        if (id.empty()) id = file.filename().string();
        const std::string key = own ? reader.next_key(line, number) : "";
        begin(file, id, own ? line : JsonText(), key, job);
        end.tools = tools_of(line["payload"]["dynamic_tools"]);
        if (own) return;
      }
      // Later ones are an ancestor's, in a copy of it.
      if (is_session_meta(line)) {
        reader.next_key(line, number);
      } else {
        reader.add(line, number);
      }
    });
    if (id.empty()) return;
    reader.finish(end);
    end.name = homes_.name(file, id);
    job.writer().end(std::move(end));
  }

 private:
  void begin(const Path& file, const std::string& id, JsonText line, const std::string& line_key,
             ImportJob& job) {
    const JsonText meta = line["payload"];
    SessionRecord session{.source = "codex", .source_id = id, .thread = thread_of(meta, file)};
    const std::string segment = read_codex_file_name(file).segment;
    if (line.present()) {
      // A fork's copy has its source's numbers: its own first line stays out of them.
      const bool numbered = line["ordinal"].present();
      session.header =
          MessageRecord{.key = numbered ? line_key : message_key("codex", "meta"), .line = 1};
      session.header->message = {.role = "system",
                                 .content = {},
                                 .item = std::string(line.raw()),
                                 .created_at = base::parse_rfc3339(line["timestamp"].string())};
    }
    const std::string forked_from = meta["forked_from_id"].string();
    if (const auto base = read_codex_base(meta)) {
      job.writer().flush();
      const auto key = rollouts_.find_base(job.store(), *base);
      if (!key) {
        if (!job.dry_run() || !job.sessions.contains(base->thread)) {
          job.skip(file, 1,
                   "it goes on from thread " + base->thread +
                       ", which is not there: only its own part was taken");
        }
      } else if (base->thread == id) {
        session.header->parent = key;
      } else {
        session.origin = Origin{thread_id_of("codex", base->thread), key};
      }
    } else if (!forked_from.empty()) {
      session.origin = Origin{thread_id_of("codex", forked_from), {}};
    }
    job.writer().begin(file, std::move(session));
  }

  CodexHomes homes_;
  CodexRollouts rollouts_;
};

}  // namespace

std::unique_ptr<Format> make_codex_format() { return std::make_unique<CodexFormat>(); }

}  // namespace threadstore::exchange
