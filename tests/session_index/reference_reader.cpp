#include "tests/session_index/reference_reader.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json.h"
#include "base/rfc3339.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

using nlohmann::json;

bool is_text_or_null(const json& object, const char* key) {
  return !object.contains(key) || object[key].is_null() || object[key].is_string();
}

std::optional<std::string> text_of(const json& object, const char* key) {
  if (!object.contains(key) || object[key].is_null()) return std::nullopt;
  return object[key].get<std::string>();
}

std::optional<UnixSeconds> time_of(const json& object) {
  if (!object.contains("updated_at")) return std::nullopt;
  const json& time = object["updated_at"];
  if (time.is_string()) return base::parse_rfc3339(time.get_ref<const std::string&>());
  if (!time.is_number_integer()) return std::nullopt;
  if (time.is_number_unsigned() && time.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return time.get<UnixSeconds>();
}

std::optional<IndexEntry> entry_of(const json& line) {
  if (!line.is_object()) return std::nullopt;
  const char* const key = line.contains("thread_id") ? "thread_id" : "id";
  if (!line.contains(key) || !line[key].is_string() || line[key] == "") return std::nullopt;
  if (!is_text_or_null(line, "thread_name") || !is_text_or_null(line, "rollout_path")) {
    return std::nullopt;
  }
  const auto time = time_of(line);
  if (!time) return std::nullopt;
  const json mark = line.contains("deleted") ? line["deleted"] : json();
  return IndexEntry{.thread_id = ThreadId(line[key].get<std::string>()),
                    .thread_name = text_of(line, "thread_name"),
                    .updated_at = *time,
                    .rollout_path = text_of(line, "rollout_path"),
                    .deleted = mark == true,
                    .revived = mark == false};
}

}  // namespace

std::map<std::string, IndexEntry> reference_read(const std::filesystem::path& file) {
  std::map<std::string, IndexEntry> rows;
  std::string text = read_file(file);
  text.resize(text.rfind('\n') + 1);  // what has no newline yet is not read
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (base::find_json_fault(line)) continue;
    const auto entry = entry_of(json::parse(line));
    if (!entry) continue;
    IndexEntry& row = rows[entry->thread_id.str()];
    if (row.deleted && !entry->deleted && !entry->revived) continue;
    row = *entry;
    row.revived = false;
  }
  std::erase_if(rows, [](const auto& row) { return row.second.deleted; });
  return rows;
}

std::map<std::string, IndexEntry> by_id(const std::vector<IndexEntry>& entries) {
  std::map<std::string, IndexEntry> rows;
  for (const IndexEntry& entry : entries) rows[entry.thread_id.str()] = entry;
  return rows;
}

}  // namespace threadstore::test
