#include "state/index_compare.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "state/threads/thread_record.h"

namespace threadstore::state {
namespace {

constexpr std::int64_t snapshot_rows = 1000;

enum class Verdict { same, missing, extra, different };

Verdict compare(const IndexEntry* stored, const IndexEntry* indexed) {
  if (stored == nullptr) return indexed == nullptr ? Verdict::same : Verdict::extra;
  if (indexed == nullptr) return Verdict::missing;
  const bool same =
      stored->thread_name == indexed->thread_name && stored->rollout_path == indexed->rollout_path;
  return same ? Verdict::same : Verdict::different;
}

std::optional<IndexEntry> stored_entry(StoreContext& context, const ThreadId& id) {
  const auto thread =
      context.read([&](db::Session& session) { return find_thread(context, session, id); });
  if (!thread) return std::nullopt;
  return IndexEntry{.thread_id = id,
                    .thread_name = thread->name,
                    .updated_at = thread->updated_at,
                    .rollout_path = thread->rollout_path};
}

/// The verdict now: the index first, since a change reaches the database before it.
Verdict look_again(StoreContext& context, const ThreadId& id) {
  const auto indexed = context.index->find(id);
  const auto stored = stored_entry(context, id);
  return compare(stored ? &*stored : nullptr, indexed ? &*indexed : nullptr);
}

void add(IndexDifference& difference, const ThreadId& id, Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return;
    case Verdict::missing:
      difference.missing.push_back(id);
      return;
    case Verdict::extra:
      difference.extra.push_back(id);
      return;
    case Verdict::different:
      difference.different.push_back(id);
      return;
  }
}

}  // namespace

std::vector<IndexEntry> index_entries(StoreContext& context) {
  static const std::string sql =
      std::string("SELECT id, title, updated_at, rollout_path FROM threads WHERE id > ? AND") +
      thread_is_visible + " ORDER BY id LIMIT ?";
  std::vector<IndexEntry> entries;
  std::size_t before = 0;
  do {
    before = entries.size();
    const ThreadId last = entries.empty() ? ThreadId() : entries.back().thread_id;
    context.read([&](db::Session& session) {
      session.each(sql, {last, snapshot_rows}, [&](const db::Row& row) {
        entries.push_back({.thread_id = row.get<ThreadId>(0),
                           .thread_name = row.get<std::optional<std::string>>(1),
                           .updated_at = row.integer(2),
                           .rollout_path = row.get<std::optional<std::string>>(3)});
      });
    });
  } while (entries.size() != before);
  return entries;
}

IndexDifference compare_index(StoreContext& context) {
  IndexDifference difference;
  if (!context.index) return difference;
  const std::vector<IndexEntry> indexed = context.index->entries();
  const std::vector<IndexEntry> stored = index_entries(context);

  std::unordered_map<ThreadId, const IndexEntry*> by_id;
  for (const IndexEntry& entry : indexed) by_id[entry.thread_id] = &entry;
  const auto judge = [&](const ThreadId& id, const IndexEntry* in_database,
                         const IndexEntry* in_index) {
    if (compare(in_database, in_index) == Verdict::same) return;
    add(difference, id, look_again(context, id));
  };
  for (const IndexEntry& entry : stored) {
    const auto found = by_id.find(entry.thread_id);
    judge(entry.thread_id, &entry, found == by_id.end() ? nullptr : found->second);
    if (found != by_id.end()) by_id.erase(found);
  }
  std::vector<ThreadId> only_indexed;
  for (const auto& [id, entry] : by_id) only_indexed.push_back(id);
  std::sort(only_indexed.begin(), only_indexed.end());
  for (const ThreadId& id : only_indexed) judge(id, nullptr, by_id[id]);
  return difference;
}

}  // namespace threadstore::state
