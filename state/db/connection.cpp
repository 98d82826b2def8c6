#include "state/db/connection.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <random>
#include <thread>
#include <utility>

#include "state/db/sqlite_error.h"
#include "state/db/wal_keeper.h"

namespace threadstore::db {
namespace {

constexpr int kKeepPrepared = SQLITE_PREPARE_PERSISTENT;

void switch_setting(sqlite3* handle, int setting, int value) {
  sqlite3_db_config(handle, setting, value, nullptr);
}

}  // namespace

Connection::Connection(const Target& target, Role role)
    : file_(target.file), deadline_(base::Deadline::after(std::chrono::seconds(5))) {
  const int flags = (target.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  try {
    database_ = std::make_unique<SQLite::Database>(target.location, flags);
  } catch (const SQLite::Exception& failure) {
    const int extended = failure.getExtendedErrorCode();
    throw_sqlite(extended > 0 ? extended : failure.getErrorCode(), nullptr, "open", file_);
  }
  handle_ = database_->getHandle();
  configure(target, role);
}

Connection::~Connection() = default;

void Connection::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

void Connection::configure(const Target& target, Role role) {
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_handler(handle_, &Connection::wait_for_lock, this);
  switch_setting(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1);
  switch_setting(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
  switch_setting(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  switch_setting(handle_, SQLITE_DBCONFIG_ENABLE_FKEY, 1);
  if (role == Role::writer) {
    sqlite3_wal_autocheckpoint(handle_, 0);  // its keeper moves the WAL
  } else {
    never_checkpoint(handle_);
  }

  script(
      "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA secure_delete=ON;"
      "PRAGMA journal_size_limit=16777216;",
      "open");
  script(target.network ? "PRAGMA synchronous=EXTRA" : "PRAGMA synchronous=FULL", "open");
  if (pragma("PRAGMA foreign_keys") != "1") {
    throw Error(IoReason::other, "cannot open " + file_ +
                                     ": this SQLite library does not enforce foreign keys; install "
                                     "one that was built with them");
  }
}

int Connection::wait_for_lock(void* self, int) noexcept {
  const auto& connection = *static_cast<Connection*>(self);
  if (connection.deadline_.expired()) return 0;
  // A constant pause with jitter: growing pauses let a patient waiter starve behind new ones.
  thread_local std::minstd_rand random(std::random_device{}());
  std::this_thread::sleep_for(std::chrono::microseconds(1500 + random() % 1000));
  return 1;
}

int Connection::try_run(std::string_view sql) noexcept {
  try {
    sqlite3_stmt* statement = prepared(sql).statement.get();
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
  } catch (...) {  // it could not be prepared
    return sqlite3_extended_errcode(handle_);
  }
}

void Connection::run(std::string_view sql, std::string_view doing) {
  const int code = try_run(sql);
  if (code != SQLITE_OK) throw_sqlite(code, handle_, doing, file_);
}

void Connection::script(const char* sql, std::string_view doing) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw_sqlite(code, handle_, doing, file_);
}

std::string Connection::pragma(const char* sql) {
  Running query(*this, sql, {});
  return query.step() ? std::string(Row(query.statement()).view(0)) : std::string();
}

Connection::Prepared& Connection::prepared(std::string_view sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  Prepared fresh;
  fresh.statement.reset(prepare(sql, true));
  return statements_.emplace(std::string(sql), std::move(fresh)).first->second;
}

sqlite3_stmt* Connection::prepare(std::string_view sql, bool keep) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      keep ? kKeepPrepared : 0, &statement, nullptr);
  if (code != SQLITE_OK) throw_sqlite(code, handle_, "use", file_);
  return statement;
}

Connection::Running::Running(Connection& connection, std::string_view sql,
                             std::span<const Value> values)
    : connection_(connection) {
  if (connection.transaction_required_ && sqlite3_get_autocommit(connection.handle_) != 0) {
    throw Error(IoReason::other, "cannot write to " + connection.file_ +
                                     ": an earlier failure rolled the transaction back; nothing "
                                     "of it was stored");
  }
  Prepared& kept = connection.prepared(sql);
  if (kept.running) {
    statement_ = connection.prepare(sql, false);  // the same query inside its own visitor
  } else {
    prepared_ = &kept;
    prepared_->running = true;
    statement_ = prepared_->statement.get();
  }
  try {
    int index = 0;
    for (const Value& value : values) bind(++index, value);
  } catch (...) {
    give_back();
    throw;
  }
}

Connection::Running::~Running() { give_back(); }

void Connection::Running::give_back() noexcept {
  if (prepared_ == nullptr) {
    sqlite3_finalize(statement_);
    return;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  prepared_->running = false;
}

void Connection::Running::bind(int index, const Value& value) {
  struct Binder {
    sqlite3_stmt* statement;
    int index;
    int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
    int operator()(std::int64_t number) const {
      return sqlite3_bind_int64(statement, index, number);
    }
    int operator()(double number) const { return sqlite3_bind_double(statement, index, number); }
    int operator()(std::string_view text) const {
      const char* bytes = text.data() == nullptr ? "" : text.data();
      return sqlite3_bind_text64(statement, index, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    int operator()(Blob blob) const {
      const char* bytes = blob.bytes.data() == nullptr ? "" : blob.bytes.data();
      return sqlite3_bind_blob64(statement, index, bytes, blob.bytes.size(), SQLITE_STATIC);
    }
  };
  const int code = std::visit(Binder{statement_, index}, value.storage());
  if (code != SQLITE_OK) throw_sqlite(code, connection_.handle_, "use", connection_.file_);
}

void Connection::Running::rewind(std::int64_t first) {
  sqlite3_reset(statement_);
  bind(1, first);
}

bool Connection::Running::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const bool writes = sqlite3_stmt_readonly(statement_) == 0;
  throw_sqlite(code, connection_.handle_, writes ? "write to" : "read", connection_.file_);
}

}  // namespace threadstore::db
