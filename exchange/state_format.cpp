#include "exchange/state_format.h"

#include <algorithm>
#include <map>

#include "exchange/import_job.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;

std::string key_of(MessageId id) { return message_key("state", std::to_string(to_int(id))); }

NewThread new_thread(const Thread& thread) {
  return {.id = thread.id,
          .name = thread.name,
          .cwd = thread.cwd,
          .preview = thread.preview,
          .model_provider = thread.model_provider,
          .cli_version = thread.cli_version,
          .source = thread.source,
          .ephemeral = thread.ephemeral,
          .rollout_path = thread.rollout_path,
          .path = thread.path,
          .sandbox_policy = thread.sandbox_policy,
          .approval_mode = thread.approval_mode,
          .git_sha = thread.git_sha,
          .git_branch = thread.git_branch,
          .git_origin_url = thread.git_origin_url,
          .memory_mode = thread.memory_mode,
          .created_at = thread.created_at,
          .updated_at = thread.updated_at};
}

/// The store's threads, each behind the one that it was forked from.
std::vector<ThreadId> sources_first(const StateStore& store) {
  std::vector<ThreadId> order;
  std::map<ThreadId, std::optional<ThreadId>> waiting;
  ThreadFilter filter{.archived = ArchivedFilter::all, .limit = 1000};
  do {
    Page<Thread> page = store.threads().list(filter);
    for (const Thread& thread : page.items) {
      waiting[thread.id] =
          thread.forked_from ? std::optional(thread.forked_from->thread_id) : std::nullopt;
    }
    filter.after = std::move(page.next);
  } while (filter.after);
  while (!waiting.empty()) {
    std::vector<ThreadId> chain;
    std::optional<ThreadId> next = waiting.begin()->first;
    while (next) {
      const auto found = waiting.find(*next);
      if (found == waiting.end()) break;
      chain.push_back(found->first);
      next = found->second;
      waiting.erase(found);
    }
    order.insert(order.end(), chain.rbegin(), chain.rend());
  }
  return order;
}

class StateReader {
 public:
  StateReader(const Path& file, const StateStore& source, ImportJob& job)
      : file_(file), source_(source), job_(job) {}

  void read(const ThreadId& id) {
    const Thread thread = source_.threads().get(id);
    SessionRecord session{.source = "state", .source_id = id.str(), .thread = new_thread(thread)};
    // A fork whose source is gone owns what it inherited: it is read as a thread of its own.
    const auto& fork = thread.forked_from;
    const bool inherits =
        fork && fork->message_id && source_.threads().find(fork->thread_id).has_value();
    if (inherits) session.origin = Origin{fork->thread_id, key_of(*fork->message_id)};
    job_.writer().begin(file_, std::move(session));
    add_messages(id, inherits ? *fork->message_id : MessageId{0});
    add_checkpoints(id);
    SessionEnd end{.name = thread.name,
                   .updated_at = thread.updated_at,
                   .archived = thread.archived,
                   .archived_at = thread.archived_at};
    if (thread.current_leaf_id) end.leaf = key_of(*thread.current_leaf_id);
    const bool at_work =
        thread.status == ThreadStatus::running || thread.status == ThreadStatus::archived;
    if (!at_work) end.status = thread.status;
    end.tools = or_report(id, "tools", [&] { return source_.tools().list(id); });
    end.goal = or_report(id, "goal", [&] { return source_.goals().find(id); });
    job_.writer().end(std::move(end));
  }

 private:
  /// Above `after`: what a fork inherited lies below.
  void add_messages(const ThreadId& id, MessageId after) {
    for (;;) {
      const auto messages = source_.messages().since(id, after, 500);
      if (messages.empty()) return;
      for (const Message& message : messages) add_message(message);
      after = messages.back().id;
    }
  }

  void add_message(const Message& message) {
    MessageRecord record{.key = key_of(message.id), .native_id = message.id};
    record.is_root = !message.parent_entry_id;
    if (message.parent_entry_id) record.parent = key_of(*message.parent_entry_id);
    std::size_t replaced = 0;
    record.message = {.role = message.role,
                      .content = to_valid_utf8(message.content, &replaced),
                      .item = message.item,
                      .created_at = message.created_at};
    const std::string name = "message " + std::to_string(to_int(message.id));
    if (replaced > 0) job_.skip(file_, 0, name + ": bytes that are not UTF-8 were replaced");
    if (message.item_damaged) {
      record.message.item.reset();
      job_.skip(file_, 0, name + ": its item is damaged and was left out");
    }
    job_.writer().add(std::move(record));
  }

  void add_checkpoints(const ThreadId& id) {
    CheckpointFilter filter;
    std::vector<CheckpointId> newest_first;
    do {
      auto page = source_.checkpoints().list(id, filter);
      for (const Checkpoint& checkpoint : page.items) {
        newest_first.push_back(checkpoint.checkpoint_id);
      }
      filter.after = std::move(page.next);
    } while (filter.after);
    for (auto name = newest_first.rbegin(); name != newest_first.rend(); ++name) {
      const auto checkpoint = or_report(id, "checkpoint " + name->str(),
                                        [&] { return source_.checkpoints().find(id, *name); });
      if (!checkpoint) continue;
      CheckpointRecord record{.id = name->str(), .state = checkpoint->state};
      if (checkpoint->leaf_id) record.leaf = key_of(*checkpoint->leaf_id);
      job_.writer().add(std::move(record));
    }
  }

  /// What is damaged costs itself.
  template <class Read>
  auto or_report(const ThreadId& id, const std::string& what, Read&& read) -> decltype(read()) {
    try {
      return read();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      job_.skip(file_, 0, what + " of thread " + id.str() + " was left out: " + error.what());
      return {};
    }
  }

  Path file_;
  const StateStore& source_;
  ImportJob& job_;
};

class StateFormat : public Format {
 public:
  std::string_view name() const override { return "a state.db"; }

  bool recognises(const Head& head) const override {
    return head.has_table("threads") && head.has_table("messages");
  }

  void read(const Path& file, ImportJob& job) override {
    const StateStore source = StateStore::open(file, {.mode = OpenMode::read_only});
    StateReader reader(file, source, job);
    for (const ThreadId& id : sources_first(source)) reader.read(id);
  }
};

}  // namespace

std::unique_ptr<Format> make_state_format() { return std::make_unique<StateFormat>(); }

}  // namespace threadstore::exchange
