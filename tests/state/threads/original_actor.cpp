// The statements that the Rust original runs on state.db, at schema 5, from
// another process: original_actor FILE THREAD ROUNDS. Prints "ready", waits for a line, prints
// "done". It knows nothing of what threadstore added to the file, begins its transactions deferred,
// as the original does, and tries again when that fails.
#include <chrono>
#include <iostream>

#include "tests/state/threads/other_program.h"

namespace {

using threadstore::test::OtherProgram;

class Original {
 public:
  Original(const std::string& file, std::string thread)
      : database_(file), thread_(std::move(thread)) {}

  void round(int number) {
    const std::string n = std::to_string(number);
    const std::string at = std::to_string(1'800'000'000 + number);
    append("original " + n, at);
    database_.run(
        "INSERT INTO checkpoints (thread_id, checkpoint_id, state_json, created_at) VALUES ('" +
        thread_ + "', 'original-" + std::to_string(number % 5) + "', '{\"round\":" + n + "}', " +
        at +
        ") ON CONFLICT(thread_id, checkpoint_id) DO UPDATE SET state_json = excluded.state_json, "
        "created_at = excluded.created_at");
    database_.run(
        "INSERT INTO jobs (id, name, status, progress, detail, created_at, updated_at) "
        "VALUES ('original-" +
        n + "', 'n', 'completed', 100, NULL, " + at + ", " + at +
        ") ON CONFLICT(id) DO UPDATE SET status = excluded.status, "
        "progress = excluded.progress, updated_at = excluded.updated_at");
    database_.run(
        "UPDATE thread_goals SET tokens_used = tokens_used + 3, updated_at = "
        "MAX(updated_at, " +
        at + ") WHERE thread_id = '" + thread_ + "'");
    database_.run(
        "INSERT INTO threads (id, preview, ephemeral, model_provider, created_at, "
        "updated_at, status, cwd, cli_version, source) VALUES ('" +
        thread_ + "', 'round " + n + "', 0, 'p', 1, " + at +
        ", 'running', '/o', '1', 'api') "
        "ON CONFLICT(id) DO UPDATE SET preview = excluded.preview, "
        "updated_at = excluded.updated_at, status = excluded.status");
  }

 private:
  /// Its transaction is deferred, so it fails at once whenever we commit in between: it tries again
  /// until we have stopped writing at the latest.
  void append(const std::string& content, const std::string& at) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      try {
        database_.run("BEGIN");
        const std::string leaf =
            database_.ask("SELECT current_leaf_id FROM threads WHERE id = '" + thread_ + "'");
        database_.run(
            "INSERT INTO messages (thread_id, role, content, item_json, created_at, "
            "parent_entry_id) VALUES ('" +
            thread_ + "', 'user', '" + content + "', NULL, " + at + ", " +
            (leaf == "-" ? "NULL" : leaf) + ")");
        database_.run("UPDATE threads SET current_leaf_id = last_insert_rowid() WHERE id = '" +
                      thread_ + "'");
        database_.run("COMMIT");
        return;
      } catch (const std::exception&) {
        try {
          database_.run("ROLLBACK");
        } catch (const std::exception&) {
        }
      }
    }
    throw std::runtime_error("could not append");
  }

  OtherProgram database_;
  std::string thread_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  Original original(arguments[1], arguments[2]);
  std::cout << "ready" << std::endl;
  std::string go;
  std::getline(std::cin, go);
  for (int number = 0; number < std::stoi(arguments[3]); ++number) original.round(number);
  std::cout << "done" << std::endl;
}
