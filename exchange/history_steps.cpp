#include <algorithm>

#include "base/utf8.h"
#include "exchange/history_writer.h"
#include "exchange/import_job.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

constexpr std::size_t kPreviewCharacters = 120;

std::string preview_of(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  return std::string(base::cut_to_code_points(text.substr(start), kPreviewCharacters));
}

std::size_t hash_of(const std::string& key, const MessageRecord& record) {
  return std::hash<std::string>{}(key + '\0' + record.message.role + '\0' + record.message.content);
}

}  // namespace

void HistoryWriter::apply(const Begin& begin, State& state) {
  Current current;
  current.file = begin.file;
  current.session = begin.session;
  current.thread = *begin.session.thread.id;
  const auto& origin = begin.session.origin;
  if (const auto row = job_.store().threads().find(current.thread)) {
    current.existed = current.made = true;
    current.leaf_before = row->current_leaf_id;
    current.lineage = lineage_of(current.thread);
    const auto& header = begin.session.header;
    // What an import made has the header's key. Continuing somebody else's thread would mix two
    // conversations.
    if (header && row->current_leaf_id && !lookup(current.lineage, header->key) &&
        !leaf_is_ours(current)) {
      current.refused = true;
      state.reports.push_back({begin.file, 0,
                               "thread " + current.thread.str() +
                                   " is in the store already and did not come from an import; "
                                   "nothing was taken into it"});
    }
  } else if (origin) {
    current.lineage = lineage_of(origin->thread);
    if (origin->at) current.fork_point = lookup(current.lineage, *origin->at);
    current.sharing = !origin->at && (!current.lineage.empty() || job_.dry_run());
  }
  state.current = std::move(current);
}

void HistoryWriter::apply(const MessageRecord& record, State& state) {
  Current& current = state.current;
  if (current.refused) return;
  if (const auto id = present(record, current)) {
    ++state.counts.already_present;
    current.last_key = record.key;
    current.last = id;
    return;
  }
  if (current.sharing) {
    if (is_shared(record, current)) {
      ++state.counts.already_present;
      if (job_.dry_run()) pretend(record, current);
      return;
    }
    current.sharing = false;
  }
  write_header(state);
  store(record, parent_of(record, state), state);
}

std::optional<MessageId> HistoryWriter::present(const MessageRecord& record, Current& current) {
  if (!current.existed) return std::nullopt;
  // Numbers of lines mean something in their own file only: a key that another thread has counts
  // only with the same content.
  const std::vector<ThreadId> own{current.thread};
  if (const auto id = lookup(own, record.key)) return id;
  std::optional<MessageId> id;
  if (record.former_key) id = lookup(own, *record.former_key);
  if (!id && current.session.origin && !current.session.origin->at) {
    id = lookup(current.lineage, record.origin_key.value_or(record.key));
    if (id && !copied_as_said(record, *id, current.thread)) id.reset();
  }
  if (!id && record.native_id && copied_as_said(record, *record.native_id, current.thread)) {
    id = record.native_id;
  }
  if (id) current.aliases[record.key] = id;
  return id;
}

/// A copy may have another item than its original: its own ids stand there.
bool HistoryWriter::copied_as_said(const MessageRecord& record, MessageId id,
                                   const ThreadId& thread) {
  const auto stored = job_.store().messages().find(thread, id);
  return stored && stored->role == record.message.role &&
         stored->content == record.message.content &&
         (record.origin_key || stored->item == record.message.item);
}

bool HistoryWriter::is_shared(const MessageRecord& record, Current& current) {
  if (job_.dry_run() && is_pretended(record, current)) return true;
  const auto id = lookup(current.lineage, record.origin_key.value_or(record.key));
  if (!id || !copied_as_said(record, *id, current.session.origin->thread)) return false;
  // Only an unbroken path can be inherited.
  const auto stored = job_.store().messages().find(current.session.origin->thread, *id);
  if (current.fork_point && stored->parent_entry_id != current.fork_point) return false;
  current.fork_point = current.last = id;
  current.last_key = record.key;
  if (record.origin_key) current.aliases[record.key] = id;
  return true;
}

bool HistoryWriter::is_pretended(const MessageRecord& record, const Current& current) const {
  const auto origin = pretended_.find(current.session.origin->thread);
  return origin != pretended_.end() &&
         origin->second.contains(hash_of(record.origin_key.value_or(record.key), record));
}

void HistoryWriter::pretend(const MessageRecord& record, const Current& current) {
  if (!job_.needed.contains(current.session.source_id)) return;
  pretended_[current.thread].insert(hash_of(record.key, record));
}

void HistoryWriter::make_thread(State& state) {
  Current& current = state.current;
  if (current.made) return;
  current.made = true;
  ++state.counts.threads;
  made_.insert(current.thread);
  if (job_.dry_run()) return;
  current.lineage.insert(current.lineage.begin(), current.thread);
  Threads threads = job_.store().threads();
  const NewThread& wanted = current.session.thread;
  if (!current.fork_point) {
    threads.create(wanted);
    return;
  }
  threads.fork({.source = current.session.origin->thread,
                .at = current.fork_point,
                .name = wanted.name,
                .cwd = wanted.cwd,
                .id = wanted.id,
                .created_at = wanted.created_at});
  const auto patch = [](const std::optional<std::string>& value) {
    return value ? Patch<std::string>(*value) : Patch<std::string>(clear);
  };
  threads.update(current.thread, {.rollout_path = patch(wanted.rollout_path),
                                  .path = patch(wanted.path),
                                  .sandbox_policy = patch(wanted.sandbox_policy),
                                  .approval_mode = patch(wanted.approval_mode),
                                  .git_sha = patch(wanted.git_sha),
                                  .git_branch = patch(wanted.git_branch),
                                  .git_origin_url = patch(wanted.git_origin_url),
                                  .memory_mode = patch(wanted.memory_mode),
                                  .preview = wanted.preview,
                                  .model_provider = wanted.model_provider,
                                  .cli_version = wanted.cli_version});
}

void HistoryWriter::write_header(State& state) {
  make_thread(state);
  Current& current = state.current;
  if (current.header_written) return;
  current.header_written = true;
  if (!current.session.header) return;
  const MessageRecord& header = *current.session.header;
  if (const auto id = present(header, current)) {
    current.header = id;
    return;
  }
  std::optional<MessageId> parent = current.fork_point;
  if (header.parent) parent = lookup(current.lineage, *header.parent);
  store(header, parent, state);
  current.header = current.last;
}

bool HistoryWriter::leaf_is_ours(Current& current) {
  if (!current.leaf_is_ours) {
    const auto& leaf = current.leaf_before;
    const auto row = job_.store().threads().find(current.thread);
    current.leaf_is_ours = !leaf || job_.store().messages().key_of(current.thread, *leaf) ||
                           (row && row->forked_from && row->forked_from->message_id == leaf);
  }
  return *current.leaf_is_ours;
}

std::optional<MessageId> HistoryWriter::parent_of(const MessageRecord& record, State& state) {
  Current& current = state.current;
  const std::optional<MessageId> start = current.header ? current.header : current.fork_point;
  if (record.is_root) return std::nullopt;
  if (!record.parent) return start;
  if (*record.parent == current.last_key) return current.last;
  if (const auto alias = current.aliases.find(*record.parent); alias != current.aliases.end()) {
    return alias->second;
  }
  if (job_.dry_run()) return start;
  if (const auto id = lookup(current.lineage, *record.parent)) return id;
  state.reports.push_back({current.file, record.line,
                           "the message that it answers is missing (" + *record.parent +
                               "); it was kept at the beginning of the thread"});
  return start;
}

void HistoryWriter::store(const MessageRecord& record, std::optional<MessageId> parent,
                          State& state) {
  Current& current = state.current;
  const bool first = current.added == 0;
  if (first && current.existed) leaf_is_ours(current);
  std::optional<MessageId> id = parent;
  if (job_.dry_run()) {
    pretend(record, current);
  } else {
    try {
      id = job_.store()
               .messages()
               .append(current.thread, record.message,
                       {.expected_leaf = ExpectedLeaf{parent},
                        .on_conflict = OnConflict::branch,
                        .key = record.key})
               .id;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::conflict) throw;
      state.reports.push_back({current.file, record.line, error.what()});
      current.aliases[record.key] = parent;  // what follows hangs where it would have hung
      return;
    }
  }
  if (first && current.existed && !made_.contains(current.thread)) ++state.counts.grown;
  ++current.added;
  ++state.counts.messages;
  current.last_key = record.key;
  current.last = id;
  if (current.preview.empty() && record.message.role == "user") {
    current.preview = preview_of(record.message.content);
  }
}

void HistoryWriter::apply(const SessionEnd& end, State& state) {
  Current& current = state.current;
  if (!current.refused) {
    write_header(state);
    if (!job_.dry_run()) set_metadata(end, state);
  }
  current = {};
}

void HistoryWriter::apply(const CheckpointRecord& record, State& state) {
  Current& current = state.current;
  if (current.refused) return;
  write_header(state);
  if (job_.dry_run()) return;
  const CheckpointId id(record.id);
  Checkpoints checkpoints = job_.store().checkpoints();
  if (checkpoints.find(current.thread, id)) return;
  const auto leaf = record.leaf ? find_leaf(*record.leaf, current) : std::nullopt;
  const auto before = job_.store().threads().get(current.thread).current_leaf_id;
  try {
    // A checkpoint remembers the leaf of its moment.
    job_.store().messages().set_current_leaf(current.thread, leaf);
    checkpoints.save(current.thread, {.id = id, .state = record.state});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    state.reports.push_back(
        {current.file, 0, "the checkpoint " + record.id + " was left out: " + error.what()});
  }
  job_.store().messages().set_current_leaf(current.thread, before);
}

std::optional<MessageId> HistoryWriter::find_leaf(const std::string& key, const Current& current) {
  if (key == current.last_key) return current.last;
  const auto alias = current.aliases.find(key);
  return alias != current.aliases.end() ? alias->second : lookup(current.lineage, key);
}

void HistoryWriter::set_metadata(const SessionEnd& end, State& state) {
  Current& current = state.current;
  Threads threads = job_.store().threads();
  Messages messages = job_.store().messages();
  Thread row = threads.get(current.thread);
  // A new thread may be set back though all of it is inherited.
  if (!current.existed || (current.added > 0 && leaf_is_ours(current))) {
    const auto leaf = end.leaf ? find_leaf(*end.leaf, current) : current.last;
    if (leaf && leaf != row.current_leaf_id) messages.set_current_leaf(current.thread, leaf);
  }
  if (!current.existed) threads.update(current.thread, end.late);
  const auto& name = end.name ? end.name : current.session.thread.name;
  const bool unnamed = !row.name || row.name->empty();
  if (name && unnamed) threads.update(current.thread, {.name = *name});
  if (row.preview.empty() && !current.preview.empty()) {
    threads.update(current.thread, {.preview = current.preview});
  }
  if (current.existed) return;
  if (!end.tools.empty()) job_.store().tools().replace(current.thread, end.tools);
  if (end.goal) job_.store().goals().upsert(*end.goal);
  if (end.status && !end.archived) threads.set_status(current.thread, *end.status);
  if (end.archived) threads.archive(current.thread);
  if (!end.updated_at && !end.archived_at) return;
  // The source's own times, not those of this work.
  row = threads.get(current.thread);
  row.updated_at = end.updated_at.value_or(row.updated_at);
  if (end.archived && end.archived_at) row.archived_at = end.archived_at;
  threads.upsert(row);
}

}  // namespace threadstore::exchange
