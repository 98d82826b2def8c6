#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {

/// Lets commits of this process fail. Before the store is opened, and so a base class.
class CommitFaults {
 protected:
  CommitFaults();
  static void refuse_commits(bool refuse);
};

/// Meets an operation with a failure at its first, second, … last row that it writes, in whatever
/// table, and at its commit: nothing of it may be visible, no sequence used up, and the same call
/// must work when the failure is gone.
class RunFaultsFixture : private CommitFaults, public RunFileFixture {
 protected:
  RunFaultsFixture();

  /// Sweeps the failures over `operation`, which is one call of `method` ("RunCalls::start"; more
  /// words may say which case). It must write at least so many rows.
  void survive(const std::string& method, int rows, const std::function<void()>& operation);

  /// The operation's error when only so many rows may be written.
  std::optional<ErrorCode> with_rows(int allowed, const std::function<void()>& operation);

  /// Everything that the tables hold.
  std::string contents() const;

  const db::ConnectionHandle connection_ = open_sqlite(file_);

 private:
  std::vector<std::string> tables_;
};

}  // namespace threadstore::test
