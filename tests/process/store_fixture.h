#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/process_swarm.h"
#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {

using Command = std::vector<std::string>;

/// A store in a directory of its own, for a test that has other processes work on it too.
class StoreFixture : public ::testing::Test {
 protected:
  std::filesystem::path database() const { return folder_ / "home" / "state.db"; }
  std::filesystem::path index_lock() const { return folder_ / "home" / "session_index.jsonl.lock"; }
  std::string home() const { return (folder_ / "home").string(); }

  /// A handle; `open().messages()` and the like keep the store open as long as they live.
  StateStore open(const OpenOptions& options = {}) const {
    return StateStore::open(database(), options);
  }
  /// Gives up soon: for tests that hold a lock for ever.
  StateStore open_impatient() const { return open({.deadline = std::chrono::milliseconds(300)}); }

  static ThreadId make_thread(const StateStore& store, const std::string& name = "") {
    NewThread thread{.cwd = "/"};
    if (!name.empty()) thread.name = name;
    return store.threads().create(thread).thread.id;
  }

  /// The command line of an actor that works on the store.
  Command actor(const std::string& command, const std::vector<std::string>& arguments = {}) const {
    return actor_on(database(), command, arguments);
  }
  static Command actor_on(const std::filesystem::path& file, const std::string& command,
                          const std::vector<std::string>& arguments = {}) {
    Command line{THREADSTORE_ACTOR, command, file.string()};
    line.insert(line.end(), arguments.begin(), arguments.end());
    return line;
  }

  TempDir folder_;
};

/// What SQLite itself says of the file, past the library: the values of the first column.
std::vector<std::string> plain_query(const std::filesystem::path& database, const std::string& sql);

/// Fails the test when SQLite finds the file damaged, a foreign key dangling, a leaf that is no
/// message, or an index that differs from the database.
void expect_whole(const StateStore& store);

/// True when THREADSTORE_LONG_TESTS asks for the full length of the promises.
bool long_tests();

}  // namespace threadstore::test
