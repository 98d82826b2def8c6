#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/deadline.h"
#include "state/db/row.h"
#include "state/db/value.h"

struct sqlite3;
struct sqlite3_stmt;

namespace SQLite {  // NOLINT(readability-identifier-naming)
class Database;
}

namespace threadstore::db {

/// What a connection is for; decides how it may touch the file.
enum class Role {
  writer,  ///< the one that writes
  guard,   ///< holds BEGIN IMMEDIATE while another one checkpoints
  reader,  ///< only reads; never checkpoints when it closes
};

/// Where and how to open.
struct Target {
  std::string file;      ///< for messages
  std::string location;  ///< what SQLite is given: a path or a file: URI
  bool read_only = false;
  bool network = false;  ///< a rollback journal instead of WAL
};

/// One SQLite connection with every setting that the store relies on, and its prepared statements.
/// Used by one thread at a time.
class Connection {
 public:
  Connection(const Target& target, Role role);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  sqlite3* handle() const noexcept { return handle_; }
  const std::string& file() const noexcept { return file_; }

  /// How long statements wait for other programs' locks from now on.
  void set_deadline(base::Deadline deadline) noexcept { deadline_ = deadline; }

  /// From now on every statement must find a transaction open: SQLite rolls back by itself after
  /// some errors, and what follows must not be committed piecemeal.
  void require_transaction(bool required) noexcept { transaction_required_ = required; }

  /// Runs one statement without parameters, prepared once; returns SQLite's result code. For what
  /// opens and ends transactions: a failure there is a fact to act on, not yet an error.
  int try_run(std::string_view sql) noexcept;
  /// The same, throwing `Error`. `doing` as in `sqlite_error`.
  void run(std::string_view sql, std::string_view doing);
  /// Runs several statements, not kept: settings and schema text.
  void script(const char* sql, std::string_view doing);

  /// A one-value pragma, as text; empty when it returns nothing.
  std::string pragma(const char* sql);

  /// Owned from its first moment: a connection cannot be closed while a statement is left, also not
  /// one whose constructor fails.
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  struct Prepared {
    std::unique_ptr<sqlite3_stmt, Finalize> statement{};
    bool running = false;
  };

  /// A prepared statement for the length of one call: bound on construction, reset and unbound on
  /// every path.
  class Running {
   public:
    Running(Connection& connection, std::string_view sql, std::span<const Value> values);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    /// True when there is a row; throws on failure.
    bool step();
    /// Back to the start, with another value for the first parameter, an integer.
    void rewind(std::int64_t first);
    sqlite3_stmt* statement() const noexcept { return statement_; }

   private:
    void bind(int index, const Value& value);
    void give_back() noexcept;

    Connection& connection_;
    sqlite3_stmt* statement_ = nullptr;
    Prepared* prepared_ = nullptr;  ///< null: not from the cache
  };

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  void configure(const Target& target, Role role);
  Prepared& prepared(std::string_view sql);
  sqlite3_stmt* prepare(std::string_view sql, bool keep);
  static int wait_for_lock(void* self, int tries) noexcept;

  std::string file_;
  std::unique_ptr<SQLite::Database> database_;
  sqlite3* handle_ = nullptr;
  base::Deadline deadline_;
  bool transaction_required_ = false;
  std::unordered_map<std::string, Prepared, TextHash, std::equal_to<>> statements_;
};

}  // namespace threadstore::db
