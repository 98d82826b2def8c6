#include <charconv>

#include "state/threads/thread_list.h"
#include "threadstore/error.h"

// cursor = "t1-" updated_at "-" id, the id as lower-case hexadecimal digits: safe in a shell
// whatever bytes the id has. "t1" is the version of this text.
namespace threadstore::state {
namespace {

constexpr std::string_view prefix = "t1-";
constexpr std::string_view digits = "0123456789abcdef";

[[noreturn]] void throw_bad_cursor(const std::string& cursor) {
  throw Error(ErrorCode::invalid_argument,
              "cannot read on after \"" + cursor.substr(0, 80) +
                  "\": that is not the cursor of a page of threads; start again without one");
}

}  // namespace

std::string write_cursor(const ThreadPosition& position) {
  std::string cursor = std::string(prefix) + std::to_string(position.updated_at) + '-';
  for (const char c : position.id.str()) {
    const auto byte = static_cast<unsigned char>(c);
    cursor += digits[byte >> 4];
    cursor += digits[byte & 0xf];
  }
  return cursor;
}

ThreadPosition read_cursor(const std::string& cursor) {
  const std::string_view text = cursor;
  const std::size_t dash = text.rfind('-');
  if (!text.starts_with(prefix) || dash <= prefix.size()) throw_bad_cursor(cursor);

  ThreadPosition position;
  const char* const end = text.data() + dash;
  const auto number = std::from_chars(text.data() + prefix.size(), end, position.updated_at);
  if (number.ec != std::errc() || number.ptr != end) throw_bad_cursor(cursor);

  const std::string_view hex = text.substr(dash + 1);
  if (hex.empty() || hex.size() % 2 != 0) throw_bad_cursor(cursor);
  std::string id;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::size_t high = digits.find(hex[i]);
    const std::size_t low = digits.find(hex[i + 1]);
    if (high == digits.npos || low == digits.npos) throw_bad_cursor(cursor);
    id += static_cast<char>(high << 4 | low);
  }
  position.id = ThreadId(std::move(id));
  return position;
}

}  // namespace threadstore::state
