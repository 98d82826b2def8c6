#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/chat_program.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Checkpoints and the goal in a chat.
class ChatWorkTest : public testing::Test {
 protected:
  ProgramRun chat(const std::string& input) {
    return run_program(chat_command(home_.path(), {}), input, scratch_.path());
  }

  TempDir home_;
  TempDir scratch_;
};

TEST_F(ChatWorkTest, RestoreGoesOnFromTheCheckpointAndDeletesNothing) {
  const ProgramRun run =
      chat("one\n/checkpoint here\ntwo\n/restore here\nthree\n/restore nowhere\n/quit\n");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("Back at checkpoint here: the branch ends at #2"));
  EXPECT_THAT(run.err, HasSubstr("there is no checkpoint 'nowhere'"));
  const StateStore store = open_store(home_.path());
  const ThreadId thread = only_thread(store).id;
  EXPECT_THAT(branch_of(store, thread), ElementsAre("user: one", "assistant: echo: one",
                                                    "user: three", "assistant: echo: three"));
  EXPECT_EQ(store.messages().count(thread), 6);
}

TEST_F(ChatWorkTest, TheGoalIsSetChangedAndShown) {
  const ProgramRun run = chat(
      "/goal\nhello\n/goal set Ship the fix\n/goal budget 100\n/goal pause\n/goal dance\n/goal\n");
  EXPECT_THAT(run.err, HasSubstr("There is no message yet"));
  EXPECT_THAT(run.err, HasSubstr("It is used like this: /goal"));
  EXPECT_THAT(run.out, HasSubstr("paused (user)  0 of 100 tokens"));
  const StateStore store = open_store(home_.path());
  const Goal goal = store.goals().get(only_thread(store).id);
  EXPECT_EQ(goal.objective, "Ship the fix");
  EXPECT_EQ(goal.token_budget, 100);
}

TEST_F(ChatWorkTest, ThePromptShowsLeaseAndGoal) {
  TerminalProgram program(chat_command(home_.path(), {"--name", "alpha"}));
  program.expect("> ");
  program.type("hello\r");
  program.expect("alpha [held]> ");
  program.type("/goal set Ship it\r");
  program.expect("alpha [held; goal active, 0 tokens]> ");
  program.type("/quit\r");
  EXPECT_EQ(program.wait(), 0);
}

}  // namespace
}  // namespace threadstore::test
