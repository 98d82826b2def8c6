#include "exchange/native_reader.h"

#include <utility>

#include "exchange/import_job.h"
#include "exchange/json_lines.h"
#include "exchange/native_format.h"
#include "exchange/native_keys.h"
#include "exchange/native_records.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;

bool is_head(JsonText line) { return line["type"].string() == native_type; }

/// What a reading takes: everything, or the runs alone when the file was read before.
enum class Pass { everything, runs };

/// Messages go to the job's writer. What else a thread has goes to the store as it stands, once
/// all messages are there, so that their new numbers are known.
class NativeReader {
 public:
  NativeReader(const Path& file, ImportJob& job, Pass pass) : file_(file), job_(job), pass_(pass) {}

  /// Runs that were not stored since the runs above them are not there.
  const std::vector<ImportSkip>& orphans() const noexcept { return orphans_; }
  bool stored_runs() const noexcept { return stored_runs_; }

  void add(JsonText line, std::int64_t number) {
    line_ = number;
    const std::string type = line["type"].string();
    if (is_head(line)) return check_version(line);
    if (type == "thread") return begin(line);
    if (type == "end") {
      ended_ = true;
      return finish();
    }
    if (!thread_) return skip("it belongs to no thread");
    if (type == "message") return add_message(line);
    finish_messages();
    if (job_.dry_run()) return;
    try {
      add_record(line, type);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::not_found)
        throw;
      if (error.code() == ErrorCode::not_found && type == "run_end") {
        orphans_.push_back({.file = file_, .line = line_, .why = error.what()});
      } else {
        skip(error.what());
      }
    }
  }

  void finish_file() {
    finish();
    if (ended_) return;
    line_ = 0;
    skip("the file is cut off: its end is missing");
  }

 private:
  void skip(const std::string& why) { job_.skip(file_, line_, why); }

  void check_version(JsonText head) {
    const std::int64_t version = head["version"].integer().value_or(0);
    if (version <= native_version) return;
    throw Error(ErrorCode::newer_format, "cannot import " + file_.string() + ": it is of version " +
                                             std::to_string(version) + ", and this program knows " +
                                             std::to_string(native_version));
  }

  void begin(JsonText line) {
    finish();
    thread_ = native_thread(line);
    if (thread_->id.empty()) {
      thread_.reset();
      return skip("the thread has no id");
    }
    existed_ = true;
    if (pass_ == Pass::runs) return;
    job_.writer().flush();
    existed_ = job_.store().threads().find(thread_->id).has_value();
    SessionRecord session{.source = std::string(native_type),
                          .source_id = thread_->id.str(),
                          .thread = {.id = thread_->id,
                                     .cwd = thread_->cwd,
                                     .created_at = thread_->created_at,
                                     .updated_at = thread_->updated_at}};
    if (thread_->forked_from) session.origin = Origin{thread_->forked_from->thread_id, {}};
    job_.writer().begin(file_, std::move(session));
  }

  void add_message(JsonText line) {
    if (messages_done_) return skip("a message stands behind other records");
    MessageRecord record{.key = keys_.add(line), .line = line_};
    if (pass_ == Pass::runs) return;
    record.native_id = NativeKeys::first_id(record.key);
    if (const auto key = line["key"].string_or_none(); key && *key != record.key) {
      record.former_key = *key;
    }
    const auto parent = line["parent_entry_id"].integer();
    record.is_root = !parent;
    if (parent) {
      record.parent = keys_.find(*parent);
      if (!record.parent)
        skip("the message that it answers, #" + std::to_string(*parent) +
             ", is missing; it was kept at the beginning of the thread");
    }
    record.message = {.role = line["role"].string(),
                      .content = line["content"].string(),
                      .item = native_json(line, "item"),
                      .created_at = line["created_at"].integer()};
    job_.writer().add(std::move(record));
  }

  std::optional<MessageId> stored(std::optional<MessageId> id) {
    if (!id) return std::nullopt;
    const auto key = keys_.find(to_int(*id));
    if (!key) return std::nullopt;
    if (const auto found = job_.writer().find(thread_->id, *key)) return found;
    // The thread is where it came from: it has its own numbers.
    const auto own = NativeKeys::first_id(*key);
    return own && job_.store().messages().find(thread_->id, *own) ? own : std::nullopt;
  }

  void finish_messages() {
    if (!thread_ || messages_done_) return;
    messages_done_ = true;
    if (pass_ == Pass::runs) return;
    SessionEnd end;
    if (thread_->current_leaf_id) end.leaf = keys_.find(to_int(*thread_->current_leaf_id));
    job_.writer().end(std::move(end));
    job_.writer().flush();
    if (job_.dry_run() || existed_) return;
    job_.store().transaction([&] {
      job_.store().threads().upsert(*thread_);
      if (!thread_->current_leaf_id) job_.store().messages().set_current_leaf(thread_->id, {});
    });
    if (!thread_->forked_from) return;
    Transfer(job_.store())
        .put_origin(thread_->id,
                    {thread_->forked_from->thread_id, stored(thread_->forked_from->message_id)});
  }

  void add_record(JsonText line, const std::string& type) {
    if (pass_ == Pass::runs && !type.starts_with("run")) return;
    StateStore& store = job_.store();
    if (type == "checkpoint") {
      Checkpoint checkpoint = native_checkpoint(line);
      checkpoint.thread_id = thread_->id;
      const auto leaf = stored(checkpoint.leaf_id);
      if (checkpoint.leaf_id && !leaf) checkpoint.restorable = false;
      checkpoint.leaf_id = leaf;
      Transfer(store).put_checkpoint(checkpoint);
    } else if (type == "tool") {
      tools_.push_back(native_tool(line));
    } else if (type == "goal") {
      Goal goal = native_goal(line);
      goal.thread_id = thread_->id;
      if (!store.goals().find(thread_->id)) store.goals().upsert(goal);
    } else if (type == "run") {
      run_ = native_run(line);
      events_.clear();
    } else if (type == "run_event" && run_) {
      events_.push_back(native_event(line));
    } else if (type == "run_end" && run_) {
      put_run();
    } else if (!run_ || !add_native_run_part(line, type, *run_)) {
      skip("lines of type '" + type + "' are not known");
    }
  }

  void put_run() {
    RunRecord record = *std::exchange(run_, std::nullopt);
    record.run.thread_id = thread_->id;
    record.run.trigger_message_id = stored(record.run.trigger_message_id);
    record.run.reply_message_id = stored(record.run.reply_message_id);
    const bool stored = Transfer(job_.store()).put_run(record, std::exchange(events_, {}));
    stored_runs_ = stored_runs_ || stored;
  }

  void finish() {
    if (!thread_) return;
    finish_messages();
    if (!job_.dry_run() && !existed_ && !tools_.empty()) {
      job_.store().tools().replace(thread_->id, tools_);
    }
    thread_.reset();
    tools_.clear();
    keys_ = {};
    messages_done_ = false;
  }

  const Path file_;
  ImportJob& job_;
  const Pass pass_;
  std::int64_t line_ = 0;
  std::optional<Thread> thread_{};
  bool existed_ = false;  ///< before this import
  bool messages_done_ = false;
  bool ended_ = false;
  NativeKeys keys_{};
  std::vector<Tool> tools_{};
  std::optional<RunRecord> run_{};
  std::vector<RunEvent> events_{};
  std::vector<ImportSkip> orphans_{};
  bool stored_runs_ = false;
};

class NativeFormat : public Format {
 public:
  std::string_view name() const override { return "our own JSON"; }

  bool recognises(const Head& head) const override {
    const auto objects = head.objects();
    return !objects.empty() && is_head(JsonText(objects.front()));
  }

  Identity identify(const Head& head) override {
    Identity identity;
    for (const std::string_view object : head.objects()) {
      const JsonText line(object);
      if (line["type"].string() != "thread") continue;
      identity.session = line["id"].string();
      const auto source = line["forked_from"]["thread_id"].string_or_none();
      if (source) identity.needs.push_back(*source);
      break;
    }
    return identity;
  }

  void read(const Path& file, ImportJob& job) override { read_pass(file, job, Pass::everything); }

  /// A run may stand below one of another thread, whose file came later.
  void finish(ImportJob& job) override {
    bool stored = true;
    while (stored && !orphaned_.empty()) {
      stored = false;
      for (const auto& [file, orphans] : std::exchange(orphaned_, {})) {
        ImportJob again(job.store(), {});  // what is to be reported of the file was reported
        stored = read_pass(file, again, Pass::runs) || stored;
      }
    }
    for (const auto& [file, orphans] : std::exchange(orphaned_, {})) {
      for (const ImportSkip& orphan : orphans) job.skip(orphan.file, orphan.line, orphan.why);
    }
  }

 private:
  /// Whether a run was stored.
  bool read_pass(const Path& file, ImportJob& job, Pass pass) {
    NativeReader reader(file, job, pass);
    each_json_line(file, job,
                   [&](JsonText line, std::int64_t number) { reader.add(line, number); });
    reader.finish_file();
    if (!reader.orphans().empty()) orphaned_.emplace_back(file, reader.orphans());
    return reader.stored_runs();
  }

  std::vector<std::pair<Path, std::vector<ImportSkip>>> orphaned_;
};

}  // namespace

std::unique_ptr<Format> make_native_format() { return std::make_unique<NativeFormat>(); }

}  // namespace threadstore::exchange
