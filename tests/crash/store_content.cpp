#include "tests/crash/store_content.h"

#include <sqlite3.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>

namespace threadstore::test {
namespace {

using Handle = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

Handle open_plain(const std::filesystem::path& database) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(database.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  Handle handle(opened, sqlite3_close);
  if (code != SQLITE_OK) throw std::runtime_error("cannot open " + database.string());
  return handle;
}

void each_row(sqlite3* database, const std::string& sql,
              const std::function<void(int, char**)>& visit) {
  const auto call = [](void* out, int count, char** values, char**) {
    (*static_cast<const std::function<void(int, char**)>*>(out))(count, values);
    return 0;
  };
  if (sqlite3_exec(database, sql.c_str(), call, const_cast<void*>(static_cast<const void*>(&visit)),
                   nullptr) != SQLITE_OK) {
    throw std::runtime_error(sql + ": " + sqlite3_errmsg(database));
  }
}

std::string shown(const char* value) {
  if (value == nullptr) return "null";
  const std::string text(value);
  if (text.size() <= 60) return text;
  return text.substr(0, 20) + "…" + std::to_string(text.size()) + "#" +
         std::to_string(std::hash<std::string>{}(text));
}

}  // namespace

std::vector<std::string> content_of(const std::filesystem::path& database) {
  const Handle handle = open_plain(database);
  std::vector<std::string> tables;
  each_row(handle.get(),
           "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
           "AND name NOT IN ('index_outbox', 'leases')",
           [&](int, char** values) { tables.emplace_back(values[0]); });
  std::vector<std::string> rows;
  for (const std::string& table : tables) {
    each_row(handle.get(), "SELECT * FROM " + table, [&](int count, char** values) {
      std::string row = table;
      for (int i = 0; i < count; ++i) row += "|" + shown(values[i]);
      rows.push_back(std::move(row));
    });
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::string difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& found) {
  std::string text;
  const auto tell = [&](const char* sign, const auto& from, const auto& other) {
    std::vector<std::string> only;
    std::set_difference(from.begin(), from.end(), other.begin(), other.end(),
                        std::back_inserter(only));
    if (only.size() > 10) only.resize(10);
    for (const std::string& row : only) text += std::string("\n    ") + sign + " " + row;
  };
  tell("-", expected, found);
  tell("+", found, expected);
  return text;
}

std::string complaints_about(const StateStore& store) {
  std::string complaints;
  for (const Check& check : store.check()) {
    if (check.status == CheckStatus::failed) {
      complaints += "\n  doctor: " + check.name + ": " + check.detail;
    }
  }
  const IndexDifference index = store.verify_index();
  const auto tell = [&](const char* what, const std::vector<ThreadId>& ids) {
    for (const ThreadId& id : ids) complaints += std::string("\n  index: ") + what + id.str();
  };
  tell("missing ", index.missing);
  tell("extra ", index.extra);
  tell("different ", index.different);
  return complaints;
}

}  // namespace threadstore::test
