#pragma once

#include <sqlite3.h>

#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace threadstore::test {

/// The statements that this process's connections run, for tests that count them or look at their
/// plans. Thread-safe.
class StatementLog {
 public:
  /// Sees every connection that is opened from now on, for the rest of the process.
  static void watch() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch_connection)); }

  /// What was run since it was asked last, in order; nothing the first time. What triggers run is
  /// left out.
  static std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    return std::exchange(statements_, {});
  }

  /// Every statement that the store ran so far, each once; those by which tests look or do damage
  /// are not among them.
  static std::set<std::string> of_the_store() {
    const std::lock_guard lock(mutex_);
    return of_the_store_;
  }

 private:
  static int watch_connection(sqlite3* connection, char**, const sqlite3_api_routines*) {
    return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, note, connection);
  }
  /// The store's connections are defensive, those of tests are not.
  static bool is_of_the_store(sqlite3* connection) {
    int defensive = 0;
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
    return defensive != 0;
  }
  /// `text` is a comment when a trigger's part of the statement begins.
  static int note(unsigned, void* connection, void* statement, void* text) {
    const char* sql = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
    if (sql == nullptr || std::strncmp(static_cast<const char*>(text), "--", 2) == 0) return 0;
    const std::lock_guard lock(mutex_);
    if (asked_) statements_.emplace_back(sql);
    if (is_of_the_store(static_cast<sqlite3*>(connection))) of_the_store_.emplace(sql);
    return 0;
  }

  // The rest is guarded by it.
  static inline std::mutex mutex_;
  static inline bool asked_ = false;
  static inline std::vector<std::string> statements_;
  static inline std::set<std::string> of_the_store_;
};

/// The steps of a statement's plan, as SQLite says them.
inline std::vector<std::string> plan_of(sqlite3* connection, const std::string& sql) {
  std::vector<std::string> steps;
  const auto keep = [](void* out, int count, char** columns, char**) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(columns[count - 1]);
    return 0;
  };
  char* fault = nullptr;
  if (sqlite3_exec(connection, ("EXPLAIN QUERY PLAN " + sql).c_str(), keep, &steps, &fault) !=
      SQLITE_OK) {
    steps.push_back("no plan for " + sql + ": " + (fault != nullptr ? fault : ""));
    sqlite3_free(fault);
  }
  return steps;
}

}  // namespace threadstore::test
