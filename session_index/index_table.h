#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "session_index/slot_table.h"
#include "threadstore/session_index.h"

namespace threadstore::session_index {

/// What the index file says, kept in memory and brought up to date by reading only what was added.
/// It holds the file's own bytes and points into them, so that a line costs no string. Reads
/// without the lock: a rename gives one file or the other, and a line that is still being written
/// has no newline yet.
///
/// Which line counts: the last of a thread, but after a tombstone only another tombstone or a line
/// that says `"deleted":false`. Not thread-safe.
class IndexTable {
 public:
  /// One thread of the file. The views live until the next `refresh`.
  struct Row {
    std::string_view id;
    std::string_view line;  ///< the line that counts, without its newline
    UnixSeconds updated_at = 0;
    std::int64_t number = 0;  ///< its place among the lines
    bool deleted = false;
    bool ever_named = false;  ///< some line of the thread in this file holds a name

    IndexEntry entry() const;
  };

  /// Afterwards the table says what the file of this path says. A missing file is empty.
  void refresh(const std::filesystem::path& path);

  /// A thread's row, also a tombstone's; null when the file does not know the thread.
  const Row* find(std::string_view id) const;
  /// All rows, in the order of the lines that count.
  std::vector<const Row*> in_line_order() const;
  /// The live rows whose name is `name` but for the case.
  std::vector<const Row*> named(std::string_view name) const;

  /// A row's place in the answer of a look-up: newest first, a tie goes to the later line.
  static bool newer(const Row* a, const Row* b);

  std::int64_t bytes() const { return status_ ? status_->size : 0; }
  std::int64_t lines() const { return lines_; }
  std::int64_t skipped() const { return skipped_; }
  std::int64_t threads() const { return static_cast<std::int64_t>(rows_.size()); }

 private:
  using Slot = SlotTable::Slot;

  void clear();
  bool read_on();
  void apply(std::string_view line);
  Slot slot_of(std::string_view id, bool id_is_in_line);
  std::optional<Slot> find_slot(std::string_view id) const;
  void warn_once(const std::filesystem::path& file) const;

  /// Stays open, so that the system cannot give its inode number to the next file.
  std::optional<base::File> file_;
  std::optional<base::FileStatus> status_;  ///< when it was read last
  std::int64_t consumed_ = 0;               ///< bytes up to the last newline that was read
  std::int64_t lines_ = 0;
  std::int64_t skipped_ = 0;
  std::string first_fault_;

  std::deque<std::string> chunks_;       ///< the file's bytes as they were read
  std::deque<std::string> spelled_ids_;  ///< ids that their line holds with escapes
  std::vector<Row> rows_;
  SlotTable by_id_;
  /// By the hash of the folded name: every thread that ever had it. A hit is checked against what
  /// the row says now.
  SlotTable by_name_;
};

}  // namespace threadstore::session_index
