#include "threadstore/session_index.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/log.h"
#include "session_index/index_entry.h"
#include "session_index/index_file.h"
#include "session_index/index_table.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using session_index::IndexFile;
using session_index::IndexTable;
using Row = IndexTable::Row;
using Make = std::function<std::vector<IndexEntry>()>;

/// An append looks whether compaction is due only when the file's size crosses a multiple of this.
constexpr std::int64_t check_every = 512 * 1024;
constexpr std::int64_t compact_above_lines = 5000;
constexpr UnixSeconds keep_tombstones = 30 * 24 * 60 * 60;

std::vector<IndexEntry> entries_of(std::vector<const Row*> rows) {
  std::sort(rows.begin(), rows.end(), IndexTable::newer);
  std::vector<IndexEntry> entries;
  entries.reserve(rows.size());
  for (const Row* row : rows) entries.push_back(row->entry());
  return entries;
}

}  // namespace

/// Order of locks: the index lock, then the table's mutex. Looking takes the mutex only, so that
/// it never waits for another process.
class SessionIndex::Impl {
 public:
  Impl(std::filesystem::path file, SessionIndexOptions options)
      : file_(std::move(file)), options_(std::move(options)) {}

  const std::filesystem::path& path() const { return file_.path(); }
  base::Deadline deadline() const { return base::Deadline::after(options_.deadline); }

  /// Runs `look(table)` on what the file says now.
  template <class Look>
  auto looking(Look&& look) {
    const std::lock_guard guard(mutex_);
    table_.refresh(file_.path());
    return look(table_);
  }

  void append(const Make& make, const base::Deadline& deadline, bool durably) {
    const base::FileLock::Guard held = file_.lock(deadline);
    const std::vector<IndexEntry> entries = make();
    std::string lines;
    for (const IndexEntry& entry : entries) lines += session_index::format_line(entry);
    if (lines.empty()) return;
    const IndexFile::Growth growth = file_.append(lines);
    if (durably) file_.sync();
    const bool check = growth.before / check_every != growth.after / check_every;
    try {
      if ((check && worth_compacting()) || leaves_a_name(entries)) compact_locked();
    } catch (const Error& e) {
      // The entries are in the file, so the call has succeeded.
      base::log_warn(path().string() + " was not compacted: " + e.what());
    }
  }

  void sync(const base::Deadline& deadline) {
    const base::FileLock::Guard held = file_.lock(deadline);
    file_.sync();
  }

  IndexCompaction compact() {
    if (!base::file_status(path())) return {};
    const base::FileLock::Guard held = lock();
    file_.close_torn_line();
    return compact_locked();
  }

  void rebuild(const Make& make) {
    const base::FileLock::Guard held = lock();
    const std::vector<IndexEntry> entries = make();
    file_.close_torn_line();
    looking([&](const IndexTable& table) {
      std::string content;
      std::unordered_set<std::string_view> wanted;
      for (const IndexEntry& entry : entries) wanted.insert(entry.thread_id.str());
      for (const Row* row : table.in_line_order()) {
        if (!row->deleted || outdated(*row) || wanted.count(row->id) > 0) continue;
        content.append(row->line).append(1, '\n');
      }
      for (const IndexEntry& entry : entries) {
        const Row* row = table.find(entry.thread_id.str());
        if (row != nullptr && row->entry() == entry) {
          content.append(row->line).append(1, '\n');
        } else {
          content += session_index::format_line(entry);
        }
      }
      file_.replace(content);
    });
  }

 private:
  base::FileLock::Guard lock() const { return file_.lock(deadline()); }

  IndexCompaction compact_locked() {
    return looking([&](const IndexTable& table) {
      IndexCompaction result{.lines_before = table.lines(), .lines_after = 0};
      std::string content;
      for (const Row* row : table.in_line_order()) {
        if (row->deleted && outdated(*row)) continue;
        content.append(row->line).append(1, '\n');
        ++result.lines_after;
      }
      file_.replace(content);
      return result;
    });
  }

  bool worth_compacting() {
    return looking([](const IndexTable& table) {
      return table.lines() > compact_above_lines && table.threads() * 2 <= table.lines();
    });
  }

  /// True when a thread was removed and the file still holds a name that it had.
  bool leaves_a_name(const std::vector<IndexEntry>& entries) {
    const auto removed = [](const IndexEntry& entry) { return entry.deleted; };
    if (std::none_of(entries.begin(), entries.end(), removed)) return false;
    return looking([&](const IndexTable& table) {
      return std::any_of(entries.begin(), entries.end(), [&](const IndexEntry& entry) {
        const Row* row = table.find(entry.thread_id.str());
        return entry.deleted && row != nullptr && row->ever_named;
      });
    });
  }

  bool outdated(const Row& tombstone) const {
    return options_.clock() / 1000 - tombstone.updated_at > keep_tombstones;
  }

  IndexFile file_;
  SessionIndexOptions options_;
  std::mutex mutex_;
  IndexTable table_;  ///< guarded by mutex_
};

SessionIndex::SessionIndex(std::filesystem::path file, SessionIndexOptions options)
    : impl_(std::make_unique<Impl>(std::move(file), std::move(options))) {}
SessionIndex::~SessionIndex() = default;

void SessionIndex::append(const std::vector<IndexEntry>& entries) {
  if (entries.empty()) return;
  impl_->append([&] { return entries; }, impl_->deadline(), /*durably=*/true);
}

void SessionIndex::append(const IndexEntry& entry) { append(std::vector{entry}); }

void SessionIndex::append_latest(const std::function<std::vector<IndexEntry>()>& make,
                                 std::chrono::milliseconds deadline) {
  impl_->append(make, base::Deadline::after(deadline), /*durably=*/false);
}

void SessionIndex::sync(std::chrono::milliseconds deadline) {
  impl_->sync(base::Deadline::after(deadline));
}

void SessionIndex::append_tombstone(const ThreadId& id, UnixSeconds now) {
  append({.thread_id = id, .updated_at = now, .deleted = true});
}

std::optional<IndexEntry> SessionIndex::find(const ThreadId& id) const {
  return impl_->looking([&](const IndexTable& table) -> std::optional<IndexEntry> {
    const Row* row = table.find(id.str());
    if (row == nullptr || row->deleted) return std::nullopt;
    return row->entry();
  });
}

std::map<ThreadId, std::optional<std::string>> SessionIndex::find_names(
    const std::vector<ThreadId>& ids) const {
  return impl_->looking([&](const IndexTable& table) {
    std::map<ThreadId, std::optional<std::string>> names;
    for (const ThreadId& id : ids) {
      const Row* row = table.find(id.str());
      names[id] = row == nullptr || row->deleted ? std::nullopt : row->entry().thread_name;
    }
    return names;
  });
}

std::vector<IndexEntry> SessionIndex::find_by_name(const std::string& name) const {
  return impl_->looking([&](const IndexTable& table) { return entries_of(table.named(name)); });
}

std::optional<std::string> SessionIndex::find_path_by_name(const std::string& name) const {
  const std::vector<IndexEntry> found = find_by_name(name);
  return found.empty() ? std::nullopt : found.front().rollout_path;
}

std::vector<IndexEntry> SessionIndex::entries() const {
  return impl_->looking([](const IndexTable& table) {
    std::vector<const Row*> rows = table.in_line_order();
    rows.erase(
        std::remove_if(rows.begin(), rows.end(), [](const Row* row) { return row->deleted; }),
        rows.end());
    return entries_of(std::move(rows));
  });
}

IndexCompaction SessionIndex::compact() { return impl_->compact(); }

void SessionIndex::rebuild(const std::function<std::vector<IndexEntry>()>& make) {
  impl_->rebuild(make);
}

IndexDifference SessionIndex::compare(const std::vector<IndexEntry>& database) const {
  IndexDifference difference;
  std::unordered_map<std::string, IndexEntry> index;
  for (IndexEntry& entry : entries()) index.emplace(entry.thread_id.str(), std::move(entry));
  for (const IndexEntry& wanted : database) {
    const auto found = index.find(wanted.thread_id.str());
    if (found == index.end()) {
      difference.missing.push_back(wanted.thread_id);
      continue;
    }
    if (std::tie(found->second.thread_name, found->second.rollout_path) !=
        std::tie(wanted.thread_name, wanted.rollout_path)) {
      difference.different.push_back(wanted.thread_id);
    }
    index.erase(found);
  }
  for (const auto& [id, entry] : index) difference.extra.push_back(entry.thread_id);
  std::sort(difference.extra.begin(), difference.extra.end());
  return difference;
}

SessionIndex::Stats SessionIndex::stats() const {
  return impl_->looking([](const IndexTable& table) {
    const std::vector<const Row*> rows = table.in_line_order();
    const auto live =
        std::count_if(rows.begin(), rows.end(), [](const Row* row) { return !row->deleted; });
    return Stats{.bytes = table.bytes(),
                 .lines = table.lines(),
                 .skipped_lines = table.skipped(),
                 .threads = live};
  });
}

const std::filesystem::path& SessionIndex::file() const noexcept { return impl_->path(); }

}  // namespace threadstore
