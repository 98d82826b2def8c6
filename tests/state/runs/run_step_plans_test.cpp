// What a harness asks before each step must not read its steps: the plans say so, whatever the
// machine's speed.
#include "state/runs/event_log.h"
#include "state/runs/step_record.h"
#include "tests/state/db/sqlite_connection.h"
#include "tests/state/db/statement_log.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class RunStepPlansTest : public RunFileFixture {
 protected:
  /// What SQLite says that it does, in a file that was analysed as large ones are.
  std::string plan(const std::string& statement) const {
    std::string steps;
    for (const std::string& step : plan_of(open_sqlite(file_).get(), statement)) {
      steps += step + "; ";
    }
    return steps;
  }
};

TEST_F(RunStepPlansTest, TheLastStepIsOneLookIntoAnIndex) {
  EXPECT_THAT(plan(state::last_step_sql),
              HasSubstr("SEARCH run_steps USING COVERING INDEX sqlite_autoindex_run_steps_1 "
                        "(run_id=?)"));
  EXPECT_THAT(plan(state::last_committed_sql), HasSubstr("INDEX run_steps_committed (run_id=?)"));
}

TEST_F(RunStepPlansTest, TheTokensOfARunAndItsTreeAreInOneRow) {
  for (const char* statement : {state::own_tokens_sql, state::tree_tokens_sql}) {
    EXPECT_THAT(plan(statement),
                HasSubstr("SEARCH runs USING INDEX sqlite_autoindex_runs_1 (id=?)"));
    EXPECT_THAT(plan(statement), Not(HasSubstr("run_steps")));
  }
}

TEST_F(RunStepPlansTest, NewEventsAreWalkedFromTheCursor) {
  // Also when the workspace's runs look like the smaller set.
  const auto connection = open_sqlite(file_);
  sql(connection.get(), "ANALYZE");
  for (int i = 0; i < 3; ++i) start();
  sql(connection.get(), "ANALYZE");
  const std::string steps = plan(state::events_since_sql);
  EXPECT_THAT(steps, testing::StartsWith("SEARCH e USING INTEGER PRIMARY KEY (rowid>?)"));
  EXPECT_THAT(steps, Not(HasSubstr("TEMP B-TREE")));
}

TEST_F(RunStepPlansTest, UndecidedRequestsAndChildrenAreFoundByTheirIndexes) {
  EXPECT_THAT(plan("SELECT * FROM run_approvals WHERE decision IS NULL AND run_id = ?1"
                   " ORDER BY request_id"),
              HasSubstr("USING INDEX run_approvals_undecided (run_id=?)"));
  EXPECT_THAT(plan("SELECT * FROM run_approvals WHERE decision IS NULL"
                   " ORDER BY requested_at, request_id"),
              HasSubstr("USING INDEX run_approvals_pending"));
  EXPECT_THAT(plan("SELECT id, created_at FROM runs WHERE parent_run_id = ?1"
                   " AND (created_at, id) > (?2, ?3) ORDER BY created_at, id"),
              HasSubstr("USING COVERING INDEX runs_parent (parent_run_id=?"));
}

}  // namespace
}  // namespace threadstore::test
