#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tests/state/threads/other_program.h"
#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {

/// A store with a clock that the test sets, and another program on the same file.
class RecordsTest : public ::testing::Test {
 protected:
  static StateStore open(const std::filesystem::path& file, std::atomic<std::int64_t>& seconds) {
    return StateStore::open(file, {.clock = [&seconds] { return seconds.load() * 1000; }});
  }

  ThreadId make_thread(const std::string& id) {
    return store.threads().create({.id = ThreadId(id), .cwd = "/w"}).thread.id;
  }

  /// "code: message" of the error that `body` throws; "none" when it throws none.
  template <class Body>
  static std::string error_of(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      return std::string(to_string(error.code())) + ": " + error.what();
    }
    return "none";
  }

  TempDir dir;
  std::atomic<std::int64_t> seconds = 1'800'000'000;
  std::filesystem::path file = dir / "state.db";
  StateStore store = open(file, seconds);
  OtherProgram other{file};
};

/// The same on a copy of a fixture.
struct FixtureStore {
  explicit FixtureStore(const std::string& name) {
    std::filesystem::copy_file(fixture(name) / "state.db", dir / "state.db");
    std::filesystem::permissions(dir / "state.db", std::filesystem::perms(0600));
    store.emplace(StateStore::open(dir / "state.db"));
  }

  TempDir dir;
  std::optional<StateStore> store;
};

}  // namespace threadstore::test
