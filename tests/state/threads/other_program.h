#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace threadstore::test {

/// Another program on the same database: plain SQL, no knowledge of what threadstore added.
class OtherProgram {
 public:
  explicit OtherProgram(const std::filesystem::path& file) {
    sqlite3* connection = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr);
    connection_.reset(connection);
    if (code != SQLITE_OK) throw std::runtime_error("cannot open " + file.string());
    sqlite3_busy_timeout(connection, 5000);
    run("PRAGMA foreign_keys=ON");
  }

  void run(const std::string& sql) { ask(sql); }

  /// All rows: columns separated by '|', rows by line breaks, null as "-".
  std::string ask(const std::string& sql) {
    std::string answer;
    const auto add_row = [](void* out, int columns, char** values, char**) {
      auto& text = *static_cast<std::string*>(out);
      if (!text.empty()) text += '\n';
      for (int column = 0; column < columns; ++column) {
        if (column > 0) text += '|';
        text += values[column] == nullptr ? "-" : values[column];
      }
      return 0;
    };
    if (sqlite3_exec(connection_.get(), sql.c_str(), add_row, &answer, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sql + ": " + sqlite3_errmsg(connection_.get()));
    }
    return answer;
  }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace threadstore::test
