#include "exchange/head.h"

#include <algorithm>

#include "base/json.h"
#include "exchange/byte_source.h"
#include "exchange/foreign_database.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

// The first line of a Codex rollout holds the instructions: it may be long.
constexpr std::size_t kMostHead = std::size_t{1} << 20U;
constexpr std::size_t kMostObjects = 50;

}  // namespace

std::vector<std::string_view> Head::objects() const {
  std::vector<std::string_view> found;
  std::string_view rest = text;
  while (!rest.empty() && found.size() < kMostObjects) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.starts_with('{') && !base::find_json_fault(line)) found.push_back(line);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return found;
}

bool Head::has_table(std::string_view name) const {
  return std::find(tables.begin(), tables.end(), name) != tables.end();
}

Head read_head(const std::filesystem::path& file) {
  Head head{.file = file};
  {
    ByteSource source(file);
    try {
      for (std::string piece; head.text.size() < kMostHead && source.next(piece);) {
        head.text += piece;
        head.sqlite = is_sqlite(head.text);
        // Small files and short lines need no more.
        if (head.sqlite || std::count(piece.begin(), piece.end(), '\n') > 50) break;
      }
    } catch (const Error& error) {
      // What can be decompressed may tell enough; whoever reads it all reports the rest.
      if (error.code() != ErrorCode::damaged || head.text.empty()) throw;
    }
  }
  if (head.sqlite) {
    head.text.clear();
    head.tables = table_names(*open_foreign(file));
  }
  return head;
}

}  // namespace threadstore::exchange
