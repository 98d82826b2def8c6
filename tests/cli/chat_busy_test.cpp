#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/chat_program.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two chats on one thread. The first is driven line by line: its answer says that it is inside.
class ChatBusyTest : public testing::Test {
 protected:
  void SetUp() override {
    first_ = std::make_unique<ChildProcess>(chat_command(home_.path(), {"-q", "--name", "shared"}));
    EXPECT_EQ(first_says("one"), "echo: one");
    store_.emplace(open_store(home_.path()));
    thread_ = only_thread(*store_).id;
  }

  // The answer, which is shown before it is stored; the help that follows it comes after that.
  std::string first_says(const std::string& words) {
    first_->write_line(words);
    first_->write_line("/help");
    const std::string answer = first_->read_line().value_or("(ended)");
    while (const auto line = first_->read_line()) {
      if (line->starts_with("//TEXT")) break;
    }
    return answer;
  }

  int end_first() {
    first_->close_input();
    return first_->wait();
  }

  ProgramRun second(const std::string& on_busy, const std::string& input) {
    return run_program(chat_command(home_.path(), {"shared", "--on-busy", on_busy}), input,
                       scratch_.path());
  }

  Thread other_thread() const {
    for (const Thread& thread : store_->threads().list().items) {
      if (thread.id != thread_) return thread;
    }
    return {};
  }

  TempDir home_;
  TempDir scratch_;
  std::unique_ptr<ChildProcess> first_;
  std::optional<StateStore> store_;
  ThreadId thread_;
};

TEST_F(ChatBusyTest, TheThreadIsRunningWhileItIsHeld) {
  EXPECT_EQ(store_->threads().get(thread_).status, ThreadStatus::running);
  EXPECT_EQ(end_first(), 0);
  EXPECT_EQ(store_->threads().get(thread_).status, ThreadStatus::idle);
  EXPECT_EQ(store_->leases().find(LeaseKind::thread, thread_.str()), std::nullopt);
}

TEST_F(ChatBusyTest, AskingWithoutATerminalListsTheChoices) {
  const ProgramRun run = second("ask", "two\n");
  EXPECT_EQ(run.status, 4);
  EXPECT_EQ(run.out, "");
  for (const std::string& part :
       {std::string("threadstore chat"), std::to_string(first_->pid()), std::string("fork"),
        std::string("attach"), std::string("wait"), std::string("take-over")}) {
    EXPECT_THAT(run.err, HasSubstr(part));
  }
  EXPECT_EQ(store_->messages().count(thread_), 2);
}

TEST_F(ChatBusyTest, ForkLetsBothGoOn) {
  EXPECT_EQ(second("fork", "two\n").out, "echo: two\n");
  EXPECT_EQ(first_says("three"), "echo: three");
  EXPECT_THAT(branch_of(*store_, thread_), ElementsAre("user: one", "assistant: echo: one",
                                                       "user: three", "assistant: echo: three"));
  EXPECT_THAT(
      branch_of(*store_, other_thread().id),
      ElementsAre("user: one", "assistant: echo: one", "user: two", "assistant: echo: two"));
}

TEST_F(ChatBusyTest, TheOneTakenOverKeepsItsWordsInAFork) {
  EXPECT_EQ(second("take-over", "two\n").out, "echo: two\n");
  EXPECT_EQ(first_says("three"), "echo: three");
  EXPECT_EQ(end_first(), 0);
  EXPECT_THAT(branch_of(*store_, thread_), ElementsAre("user: one", "assistant: echo: one",
                                                       "user: two", "assistant: echo: two"));
  EXPECT_THAT(
      branch_of(*store_, other_thread().id),
      ElementsAre("user: one", "assistant: echo: one", "user: three", "assistant: echo: three"));
  EXPECT_EQ(store_->threads().get(thread_).status, ThreadStatus::idle);
}

TEST_F(ChatBusyTest, WaitGoesOnWhenTheOtherEnds) {
  ChildProcess second(chat_command(home_.path(), {"-q", "shared", "--on-busy", "wait"}));
  second.write_line("two");
  EXPECT_EQ(first_says("three"), "echo: three");
  EXPECT_EQ(end_first(), 0);
  EXPECT_EQ(second.read_line(), "echo: two");
  second.close_input();
  EXPECT_EQ(second.wait(), 0);
  EXPECT_THAT(branch_of(*store_, thread_),
              ElementsAre("user: one", "assistant: echo: one", "user: three",
                          "assistant: echo: three", "user: two", "assistant: echo: two"));
}

TEST_F(ChatBusyTest, AttachShowsWhatTheOtherWritesAndGoesOnWhenItIsKilled) {
  ChildProcess second(chat_command(home_.path(), {"-q", "shared", "--on-busy", "attach"}));
  const auto expect_line = [&](const std::string& text) {
    while (const auto line = second.read_line()) {
      if (*line == text) return;
    }
    ADD_FAILURE() << "'" << text << "' did not come";
  };
  expect_line("  echo: one");
  EXPECT_EQ(first_says("three"), "echo: three");
  expect_line("  echo: three");
  first_->kill(SIGKILL);
  second.write_line("two");
  expect_line("echo: two");
}

TEST_F(ChatBusyTest, AKilledHolderIsReplacedAtOnceAndItsThreadCalledInterrupted) {
  first_->kill(SIGKILL);
  first_->wait();
  const ProgramRun run = second("ask", "two\n");
  EXPECT_EQ(run.out, "echo: two\n");
  EXPECT_THAT(run.err, HasSubstr("interrupted"));
  EXPECT_THAT(branch_of(*store_, thread_), ElementsAre("user: one", "assistant: echo: one",
                                                       "user: two", "assistant: echo: two"));
}

TEST_F(ChatBusyTest, WhatAnotherProgramWritesMakesOursABranch) {
  const MessageId theirs = store_->messages().append(thread_, {.role = "user", .content = "x"}).id;
  EXPECT_EQ(first_says("three"), "echo: three");
  EXPECT_EQ(first_says("four"), "echo: four");
  EXPECT_EQ(store_->threads().get(thread_).current_leaf_id, theirs);
  const std::vector<Message> leaves = store_->messages().leaves(thread_);
  ASSERT_EQ(leaves.size(), 2U);
  EXPECT_THAT(branch_of(*store_, thread_, leaves[1].id),
              ElementsAre("user: one", "assistant: echo: one", "user: three",
                          "assistant: echo: three", "user: four", "assistant: echo: four"));
}

TEST_F(ChatBusyTest, AThreadThatIsClearedOrDeletedLosesNoNewWords) {
  store_->messages().clear(thread_);
  EXPECT_EQ(first_says("two"), "echo: two");
  EXPECT_THAT(branch_of(*store_, thread_), ElementsAre("user: two", "assistant: echo: two"));
  store_->threads().remove(thread_);
  EXPECT_EQ(first_says("three"), "echo: three");
  EXPECT_THAT(branch_of(*store_, only_thread(*store_).id),
              ElementsAre("user: three", "assistant: echo: three"));
}

TEST_F(ChatBusyTest, ARequestToEndGivesTheThreadBack) {
  first_->kill(SIGTERM);
  EXPECT_EQ(first_->wait(), 0);
  EXPECT_EQ(store_->threads().get(thread_).status, ThreadStatus::idle);
}

TEST(ChatKillTest, WhatWasSaidIsThereWhenTheAnswerIsCutOff) {
  TempDir home;
  TempDir scratch;
  ChildProcess chat(chat_command(home.path(), {"-q", "--exec", "echo $$; exec sleep 60"}));
  chat.write_line("question");
  const pid_t command = std::stoi(chat.read_line().value_or("0"));
  ASSERT_GT(command, 0);
  chat.kill(SIGKILL);
  chat.wait();
  ::kill(command, SIGKILL);  // nobody is left to end it
  const ProgramRun run = run_program(chat_command(home.path(), {"--last", "--exec", "echo again"}),
                                     "/retry\n", scratch.path());
  EXPECT_THAT(run.err, HasSubstr("It has no answer"));
  const StateStore store = open_store(home.path());
  EXPECT_THAT(branch_of(store, only_thread(store).id),
              ElementsAre("user: question", "assistant: again\n"));
}

}  // namespace
}  // namespace threadstore::test
