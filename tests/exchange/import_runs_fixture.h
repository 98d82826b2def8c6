#pragma once

#include <gmock/gmock.h>

#include "base/sha256.h"
#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"
#include "threadstore/import_runs.h"

namespace threadstore::test {

inline constexpr UnixMillis kStart = 1'767'323'045'678;  // 2026-01-02T03:04:05.678Z
inline constexpr const char* kReleases[]{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"};

/// Imports io-harness files into the workspace /work.
class ImportRunsTest : public RunFixture {
 protected:
  using Path = std::filesystem::path;

  static Path release(const std::string& number) {
    return fixture("io-harness") / number / "runs.db";
  }

  ImportRunsReport bring(const Path& file, bool dry_run = false) {
    return import_runs(store_, file, {.workspace = "/work", .dry_run = dry_run});
  }

  /// A copy to change.
  Path copy_of(const Path& file, const std::string& name = "copy.db") {
    const Path copy = directory_ / name;
    std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
    return copy;
  }

  static void change(const Path& file, const std::string& sql) {
    const auto connection = open_sqlite(file);
    ASSERT_EQ(sqlite3_exec(connection.get(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection.get());
  }

  /// The run that the source counts so.
  Run imported(std::int64_t number) const {
    for (const Run& run : runs_.list({.limit = 1000}).items) {
      if (run.origin_id == std::to_string(number)) return run;
    }
    ADD_FAILURE() << "run " << number << " was not imported";
    return {};
  }

  std::vector<RunStep> steps(const RunId& run) const { return runs_.steps().list(run).items; }

  void expect_nothing_new(const Path& file, std::int64_t runs) {
    const std::int64_t before = runs_.log().newest_gid();
    const ImportRunsReport again = bring(file);
    EXPECT_EQ(again.imported, ImportedRuns{});
    EXPECT_EQ(again.already_present, runs);
    EXPECT_THAT(again.not_understood, testing::IsEmpty());
    EXPECT_EQ(runs_.log().newest_gid(), before);
  }

  void expect_all_sound() const {
    for (const Run& run : runs_.list({.limit = 1000}).items) {
      EXPECT_THAT(runs_.projections().verify(run.id).what, testing::IsEmpty())
          << run.origin_id.value_or("");
    }
  }
};

}  // namespace threadstore::test
