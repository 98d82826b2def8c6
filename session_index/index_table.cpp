#include "session_index/index_table.h"

#include <fcntl.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "base/case_fold.h"
#include "base/log.h"
#include "session_index/index_entry.h"

namespace threadstore::session_index {
namespace {

/// How much of what was read last is compared when the file has grown: enough to notice that
/// somebody rewrote it in place.
constexpr std::size_t compared_tail = 256;
constexpr std::size_t usual_line = 128;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::uint32_t hash_of_id(std::string_view id) {
  const std::size_t hash = std::hash<std::string_view>{}(id);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

IndexEntry IndexTable::Row::entry() const {
  IndexEntry entry = parse_line(line).value_or(IndexEntry{});  // it parsed when it became a row
  entry.revived = false;  // that is said to those who apply the line
  return entry;
}

bool IndexTable::newer(const Row* a, const Row* b) {
  return std::pair(a->updated_at, a->number) > std::pair(b->updated_at, b->number);
}

void IndexTable::clear() { *this = IndexTable(); }

void IndexTable::refresh(const std::filesystem::path& path) {
  const std::optional<base::FileStatus> now = base::file_status(path);
  if (now && status_ == now) return;
  const bool grown = now && status_ && status_->same_file(*now) && status_->size < now->size;
  if (!grown || !read_on()) {
    clear();
    file_ = base::File::open(path, O_RDONLY | O_NONBLOCK);
    if (!file_) return;
    read_on();
  }
  if (skipped_ > 0) warn_once(path);
}

/// Reads what was added. False, with nothing changed, when what was read before is no longer there.
bool IndexTable::read_on() {
  // What is written after this look is read by the next one: it changes the status.
  const base::FileStatus status = file_->status();
  std::string_view before = chunks_.empty() ? std::string_view() : chunks_.back();
  before.remove_prefix(before.size() - std::min(before.size(), compared_tail));
  const std::int64_t start = consumed_ - static_cast<std::int64_t>(before.size());
  std::string bytes = file_->read_at(start, static_cast<std::size_t>(status.size - start));
  if (std::string_view(bytes).substr(0, before.size()) != before) return false;
  status_ = status;
  const std::size_t end = bytes.rfind('\n') + 1;  // 0 when there is none
  if (end <= before.size()) return true;
  bytes.resize(end);

  std::string_view added = chunks_.emplace_back(std::move(bytes));
  added.remove_prefix(before.size());
  consumed_ += static_cast<std::int64_t>(added.size());
  const std::size_t expected = rows_.size() + added.size() / usual_line;
  if (rows_.empty()) {
    rows_.reserve(expected);
    by_id_.reserve(expected);
    by_name_.reserve(expected);
  }
  while (!added.empty()) {
    const std::size_t newline = added.find('\n');
    apply(added.substr(0, newline));
    added.remove_prefix(newline + 1);
  }
  return true;
}

void IndexTable::apply(std::string_view line) {
  ++lines_;
  std::optional<PlainLine> plain = scan_plain_line(line);
  std::optional<IndexEntry> parsed;
  if (!plain) {
    if (is_blank(line)) return;
    std::string reason;
    parsed = parse_line(line, &reason);
    if (!parsed) {
      if (skipped_++ == 0) first_fault_ = "line " + std::to_string(lines_) + ": " + reason;
      return;
    }
    plain = {.thread_id = parsed->thread_id.str(),
             .thread_name = parsed->thread_name,
             .updated_at = parsed->updated_at,
             .deleted = parsed->deleted,
             .revived = parsed->revived};
  }
  const Slot slot = slot_of(plain->thread_id, !parsed);
  Row& row = rows_[slot];
  row.ever_named |= plain->thread_name.has_value();
  if (row.deleted && !plain->deleted && !plain->revived) return;
  row.line = line;
  row.updated_at = plain->updated_at;
  row.number = lines_;
  row.deleted = plain->deleted;
  if (plain->thread_name) by_name_.insert(base::hash_folded(*plain->thread_name), slot);
}

/// The thread's slot, made when it is new.
IndexTable::Slot IndexTable::slot_of(std::string_view id, bool id_is_in_line) {
  if (const auto known = find_slot(id)) return *known;
  if (!id_is_in_line) id = spelled_ids_.emplace_back(id);
  const auto slot = static_cast<Slot>(rows_.size());
  rows_.emplace_back().id = id;
  by_id_.insert(hash_of_id(id), slot);
  return slot;
}

std::optional<IndexTable::Slot> IndexTable::find_slot(std::string_view id) const {
  Slot found = 0;
  const bool known = by_id_.find(hash_of_id(id), [&](Slot slot) {
    found = slot;
    return rows_[slot].id == id;
  });
  return known ? std::optional(found) : std::nullopt;
}

const IndexTable::Row* IndexTable::find(std::string_view id) const {
  const auto slot = find_slot(id);
  return slot ? &rows_[*slot] : nullptr;
}

std::vector<const IndexTable::Row*> IndexTable::in_line_order() const {
  std::vector<const Row*> rows;
  rows.reserve(rows_.size());
  for (const Row& row : rows_) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [](const Row* a, const Row* b) { return a->number < b->number; });
  return rows;
}

std::vector<const IndexTable::Row*> IndexTable::named(std::string_view name) const {
  std::set<Slot> slots;  // a thread that went back to an old name is in the table twice
  by_name_.find(base::hash_folded(name), [&](Slot slot) {
    slots.insert(slot);
    return false;
  });
  const std::string folded = base::fold_case(name);
  std::vector<const Row*> rows;
  for (const Slot slot : slots) {
    const Row& row = rows_[slot];
    if (row.deleted) continue;
    const std::optional<std::string> now = row.entry().thread_name;
    if (now && base::fold_case(*now) == folded) rows.push_back(&row);
  }
  return rows;
}

void IndexTable::warn_once(const std::filesystem::path& file) const {
  static std::mutex mutex;
  static std::set<std::filesystem::path> warned;
  {
    const std::lock_guard lock(mutex);
    if (!warned.insert(file).second) return;
  }
  base::log_warn(std::to_string(skipped_) + " unreadable line(s) of " + file.string() +
                 " skipped; the first is " + first_fault_);
}

}  // namespace threadstore::session_index
