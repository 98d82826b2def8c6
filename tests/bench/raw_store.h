#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace threadstore::bench {

/// What a careful C program would do: the SQLite C API, prepared statements, the settings and the
/// schema of our stores. The practical limit that our figures are compared with.
class RawStore {
 public:
  /// The file must be a store already: our own migrations make the schema.
  explicit RawStore(const std::filesystem::path& file);

  /// A statement that is kept for the life of the store.
  sqlite3_stmt* prepare(std::string_view sql);
  /// Runs a kept statement to its end, `row` for each row; fails loudly. Bindings stay.
  void run(sqlite3_stmt* statement, const std::function<void(sqlite3_stmt*)>& row = {});

  void begin() { run(begin_); }
  void begin_read() { run(begin_read_); }
  void commit() { run(commit_); }

  /// One message under the current leaf, in its own commit; `parent` 0: the leaf.
  std::int64_t append(const std::string& thread, std::string_view content, std::int64_t parent = 0);
  /// Several in one commit.
  void append_many(const std::string& thread, const std::vector<std::string>& contents);

  struct Message {
    std::int64_t id = 0;
    std::int64_t parent = 0;
    std::int64_t created_at = 0;
    std::string role, content, item;
  };
  /// Walks from the leaf to the root, a point query per message, and keeps what it reads.
  std::vector<Message> branch(const std::string& thread, std::int64_t most);

  sqlite3* handle() const { return connection_.get(); }

 private:
  std::int64_t append_here(const std::string& thread, std::string_view content,
                           std::int64_t parent);

  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3, Close> connection_;
  std::vector<std::unique_ptr<sqlite3_stmt, Close>> statements_;
  sqlite3_stmt* begin_;
  sqlite3_stmt* begin_read_;
  sqlite3_stmt* commit_;
  sqlite3_stmt* leaf_;
  sqlite3_stmt* insert_;
  sqlite3_stmt* move_leaf_;
  sqlite3_stmt* move_both_;
  sqlite3_stmt* message_;
};

/// Binds text that outlives the statement's run.
void bind_text(sqlite3_stmt* statement, int index, std::string_view text);
/// A copy of a text column.
std::string text_of(sqlite3_stmt* statement, int column);

}  // namespace threadstore::bench
