#include "exchange/langgraph_format.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/rfc3339.h"
#include "base/sha256.h"
#include "exchange/foreign_database.h"
#include "exchange/import_job.h"
#include "exchange/langgraph_value.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A row of `checkpoints`.
struct Stored {
  std::string id;
  std::string parent;
  std::string type;
  std::string checkpoint;
  std::string metadata;
};

/// One thread and namespace. Every checkpoint holds the whole list of messages at its moment: the
/// lists with a common beginning share it, which makes a tree of them. A message is named by what
/// stands before it and itself.
class LanggraphThread {
 public:
  LanggraphThread(const Path& file, const std::string& id, const std::string& space, ImportJob& job)
      : file_(file), job_(job), name_(space.empty() ? id : id + " " + space) {}

  void add(const Stored& stored, const std::string& writes) {
    const auto text = langgraph_json(stored.type, stored.checkpoint);
    if (!text) {
      job_.skip(file_, 0,
                "checkpoint " + stored.id + " of thread " + name_ + " was left out: its " +
                    stored.type + " data cannot be read");
      return;
    }
    const JsonText checkpoint(*text);
    const auto time = base::parse_rfc3339(checkpoint["ts"].string());
    if (!begun_) begin(time);
    std::optional<std::string> leaf;
    checkpoint["channel_values"]["messages"].each(
        [&](JsonText message) { leaf = add_message(message, leaf, time); });
    leaf_ = leaf;
    const std::string metadata =
        langgraph_json("json", stored.metadata)
            .value_or(langgraph_json("msgpack", stored.metadata).value_or("null"));
    job_.writer().add(
        CheckpointRecord{.id = stored.id,
                         .state = "{\"checkpoint\":" + *text + ",\"metadata\":" + metadata +
                                  ",\"parent_checkpoint_id\":" +
                                  (stored.parent.empty() ? "null" : quoted(stored.parent)) +
                                  ",\"writes\":[" + writes + "]}",
                         .leaf = leaf});
  }

  void finish() {
    if (!begun_) return;
    job_.writer().end({.leaf = leaf_, .name = name_});
  }

 private:
  void begin(std::optional<UnixSeconds> time) {
    begun_ = true;
    job_.writer().begin(file_, {.source = "langgraph",
                                .source_id = name_,
                                .thread = {.source = SessionSource::api,
                                           .rollout_path = file_.string(),
                                           .created_at = time}});
  }

  std::string add_message(JsonText value, const std::optional<std::string>& parent,
                          std::optional<UnixSeconds> time) {
    const std::string raw(value.raw());
    std::string key =
        message_key("langgraph", base::sha256_of_text(parent.value_or("") + raw).substr(0, 32));
    if (!known_.insert(key).second) return key;
    const auto message = read_langchain_message(value);
    MessageRecord record{.key = key, .parent = parent};
    record.message = {.role = message ? message->role : "system",
                      .content = message ? message->content : "",
                      .item = raw,
                      .created_at = time};
    job_.writer().add(std::move(record));
    return key;
  }

  Path file_;
  ImportJob& job_;
  std::string name_;
  bool begun_ = false;
  std::optional<std::string> leaf_{};
  std::set<std::string> known_{};
};

class LanggraphFormat : public Format {
 public:
  std::string_view name() const override { return "a LangGraph checkpoint database"; }

  bool recognises(const Head& head) const override {
    return head.has_table("checkpoints") && head.has_table("writes");
  }

  void read(const Path& file, ImportJob& job) override {
    const auto database = open_foreign(file);
    database->read([&](db::Session& session) {
      std::optional<LanggraphThread> thread;
      std::string id, space;
      session.each(R"sql(
          SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
                 metadata
          FROM checkpoints ORDER BY thread_id, checkpoint_ns, checkpoint_id)sql",
                   {}, [&](const db::Row& row) {
                     if (!thread || row.text(0) != id || row.text(1) != space) {
                       if (thread) thread->finish();
                       id = row.text(0);
                       space = row.text(1);
                       thread.emplace(file, id, space, job);
                     }
                     const Stored stored{.id = row.text(2),
                                         .parent = row.text(3),
                                         .type = row.text(4),
                                         .checkpoint = row.text(5),
                                         .metadata = row.text(6)};
                     thread->add(stored, writes_of(session, id, space, stored.id));
                   });
      if (thread) thread->finish();
    });
  }

 private:
  /// The checkpoint's pending writes, as elements of a JSON array. What cannot be read keeps its
  /// place without a value.
  static std::string writes_of(db::Session& session, const std::string& thread,
                               const std::string& space, const std::string& checkpoint) {
    std::string writes;
    session.each(R"sql(
        SELECT task_id, idx, channel, type, value FROM writes
        WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_id, idx)sql",
                 {thread, space, checkpoint}, [&](const db::Row& row) {
                   const auto value = langgraph_json(row.text(3), row.text(4));
                   writes += (writes.empty() ? "{\"task_id\":" : ",{\"task_id\":") +
                             quoted(row.text(0)) + ",\"idx\":" + std::to_string(row.integer(1)) +
                             ",\"channel\":" + quoted(row.text(2)) +
                             ",\"type\":" + quoted(row.text(3)) +
                             ",\"value\":" + value.value_or("null") + "}";
                 });
    return writes;
  }
};

}  // namespace

std::unique_ptr<Format> make_langgraph_format() { return std::make_unique<LanggraphFormat>(); }

}  // namespace threadstore::exchange
