#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "threadstore/session_index.h"

namespace threadstore::session_index {

// One line of the index and the entry that it says; docs/session_index.md has the grammar.

/// A line of the plain shape that this program writes, read without copying: the views point into
/// the line.
struct PlainLine {
  std::string_view thread_id{};
  std::optional<std::string_view> thread_name{};
  UnixSeconds updated_at = 0;
  std::optional<std::string_view> rollout_path{};
  bool deleted = false;
  bool revived = false;
};

/// Reads a line that has exactly our keys in our order, no escape in its strings and no white
/// space: nearly all lines, at a tenth of the cost of JSON. Nothing: ask `parse_line`.
std::optional<PlainLine> scan_plain_line(std::string_view line);

/// Reads any line, without its newline: `thread_id` or `id`, `updated_at` in seconds or as an
/// RFC 3339 time, further keys ignored. Nothing when it is not an entry; `reason` says why.
std::optional<IndexEntry> parse_line(std::string_view line, std::string* reason = nullptr);

/// The line of an entry, with its newline. Throws `invalid_argument` for an empty id and for text
/// that is not valid UTF-8.
std::string format_line(const IndexEntry& entry);

}  // namespace threadstore::session_index
