#include "tests/bench/raw_store.h"

#include <ctime>
#include <stdexcept>

namespace threadstore::bench {
namespace {

constexpr const char* settings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
    "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
    "PRAGMA secure_delete=ON; PRAGMA journal_size_limit=16777216";

}  // namespace

RawStore::RawStore(const std::filesystem::path& file) {
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &connection,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  connection_.reset(connection);
  if (code != SQLITE_OK) throw std::runtime_error("cannot open " + file.string());
  sqlite3_busy_timeout(connection, 5000);
  if (sqlite3_exec(connection, settings, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(connection));
  }
  begin_ = prepare("BEGIN IMMEDIATE");
  begin_read_ = prepare("BEGIN");
  commit_ = prepare("COMMIT");
  leaf_ = prepare("SELECT current_leaf_id, updated_at FROM threads WHERE id = ?");
  insert_ = prepare(
      "INSERT INTO messages(thread_id, role, content, item_json, created_at, parent_entry_id,"
      " checksum) VALUES (?, ?, ?, ?, ?, ?, ?)");
  move_leaf_ = prepare("UPDATE threads SET current_leaf_id = ? WHERE id = ?");
  move_both_ = prepare("UPDATE threads SET current_leaf_id = ?, updated_at = ? WHERE id = ?");
  message_ = prepare(
      "SELECT id, role, content, item_json, created_at, parent_entry_id, checksum, thread_id"
      " FROM messages WHERE id = ?");
}

sqlite3_stmt* RawStore::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string(sql) + ": " + sqlite3_errmsg(handle()));
  }
  statements_.emplace_back(statement);
  return statement;
}

void RawStore::run(sqlite3_stmt* statement, const std::function<void(sqlite3_stmt*)>& row) {
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (row) row(statement);
  }
  sqlite3_reset(statement);
  if (code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(handle()));
}

std::int64_t RawStore::append_here(const std::string& thread, std::string_view content,
                                   std::int64_t parent) {
  std::int64_t leaf = 0;
  std::int64_t updated_at = 0;
  bind_text(leaf_, 1, thread);
  if (sqlite3_step(leaf_) == SQLITE_ROW) {
    leaf = sqlite3_column_int64(leaf_, 0);
    updated_at = sqlite3_column_int64(leaf_, 1);
  }
  sqlite3_reset(leaf_);
  if (parent == 0) parent = leaf;
  const std::int64_t now = std::time(nullptr);
  bind_text(insert_, 1, thread);
  bind_text(insert_, 2, "user");
  bind_text(insert_, 3, content);
  sqlite3_bind_null(insert_, 4);
  sqlite3_bind_int64(insert_, 5, now);
  if (parent == 0) {
    sqlite3_bind_null(insert_, 6);
  } else {
    sqlite3_bind_int64(insert_, 6, parent);
  }
  sqlite3_bind_int64(insert_, 7, 0x12345678);
  run(insert_);
  const std::int64_t id = sqlite3_last_insert_rowid(handle());
  sqlite3_stmt* move = now > updated_at ? move_both_ : move_leaf_;
  sqlite3_bind_int64(move, 1, id);
  if (move == move_both_) sqlite3_bind_int64(move, 2, now);
  bind_text(move, move == move_both_ ? 3 : 2, thread);
  run(move);
  return id;
}

std::int64_t RawStore::append(const std::string& thread, std::string_view content,
                              std::int64_t parent) {
  begin();
  const std::int64_t id = append_here(thread, content, parent);
  commit();
  return id;
}

void RawStore::append_many(const std::string& thread, const std::vector<std::string>& contents) {
  begin();
  for (const std::string& content : contents) append_here(thread, content, 0);
  commit();
}

std::vector<RawStore::Message> RawStore::branch(const std::string& thread, std::int64_t most) {
  std::vector<Message> messages;
  begin_read();
  bind_text(leaf_, 1, thread);
  std::int64_t next = sqlite3_step(leaf_) == SQLITE_ROW ? sqlite3_column_int64(leaf_, 0) : 0;
  sqlite3_reset(leaf_);
  for (; next != 0 && most > 0; --most) {
    sqlite3_bind_int64(message_, 1, next);
    if (sqlite3_step(message_) != SQLITE_ROW) throw std::runtime_error("a parent is missing");
    Message& message = messages.emplace_back();
    message.id = next;
    message.role = text_of(message_, 1);
    message.content = text_of(message_, 2);
    message.item = text_of(message_, 3);
    message.created_at = sqlite3_column_int64(message_, 4);
    message.parent = next = sqlite3_column_int64(message_, 5);
    sqlite3_reset(message_);
  }
  commit();
  return messages;
}

void bind_text(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  return bytes == nullptr
             ? std::string()
             : std::string(bytes,
                           static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

}  // namespace threadstore::bench
