#include "state/db/integrity.h"

#include <sqlite3.h>

#include <charconv>
#include <string_view>

#include "state/db/connection.h"
#include "state/db/sqlite_error.h"

namespace threadstore::db {
namespace {

/// The result code of SQLite that a finding names: "… error code=10". SQLITE_OK when none.
int code_in(std::string_view finding) {
  // A page of a chain is named without a code. One beyond the file has other words, and what is
  // torn off the end reads as NULs: only the system is left.
  if (finding.find("failed to get page") != std::string_view::npos) return SQLITE_IOERR_READ;
  constexpr std::string_view kWords = "error code";
  const auto at = finding.find(kWords);
  if (at == std::string_view::npos) return SQLITE_OK;
  int code = SQLITE_OK;
  const std::string_view number = finding.substr(at + kWords.size() + 1);
  std::from_chars(number.data(), number.data() + number.size(), code);
  return code;
}

bool is_refusal(int code) {
  switch (code & 0xff) {
    case SQLITE_IOERR:
      return code != SQLITE_IOERR_SHORT_READ;  // the file ends too early
    case SQLITE_NOMEM:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> find_damage(Session& session, int most) {
  std::vector<std::string> findings;
  session.each("PRAGMA integrity_check(" + std::to_string(most) + ")", {},
               [&](const Row& row) { findings.push_back(row.text(0)); });
  if (findings == std::vector<std::string>{"ok"}) return {};
  for (const std::string& finding : findings) {
    const int code = code_in(finding);
    if (is_refusal(code)) throw_sqlite(code, nullptr, "read", session.connection().file());
  }
  return findings;
}

}  // namespace threadstore::db
