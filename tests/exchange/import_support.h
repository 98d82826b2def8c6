#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "threadstore/import.h"

namespace threadstore::test {

/// A store in a directory of its own, to import into.
class ImportTest : public ::testing::Test {
 protected:
  using Path = std::filesystem::path;

  ImportReport import(const std::vector<Path>& paths, bool dry_run = false) {
    return import_history(store_, paths, {.dry_run = dry_run});
  }

  /// Writes a file of the directory and imports it.
  ImportReport import_text(const std::string& name, const std::string& text) {
    write_file(dir_ / name, text);
    return import({dir_ / name});
  }

  std::vector<Message> branch(const ThreadId& thread, std::optional<MessageId> leaf = {}) const;
  /// The non-empty contents of that role on the branch.
  std::vector<std::string> texts(const ThreadId& thread, const std::string& role,
                                 std::optional<MessageId> leaf = {}) const;
  /// All messages of the thread's view, with their items parsed.
  std::vector<Message> all(const ThreadId& thread) const;

  TempDir dir_;
  StateStore store_ = StateStore::open(dir_ / "state.db");
};

nlohmann::json item_of(const Message& message);
nlohmann::json read_ground_truth(const std::string& folder);
std::vector<std::string> whys(const ImportReport& report);

}  // namespace threadstore::test
