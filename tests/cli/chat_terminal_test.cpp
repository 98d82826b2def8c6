#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/cli/chat_program.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;

// A chat with a person: on a pseudo-terminal.
class ChatTerminalTest : public testing::Test {
 protected:
  TerminalProgram& start(const std::vector<std::string>& arguments) {
    program_.emplace(chat_command(home_.path(), arguments));
    return *program_;
  }

  std::vector<std::string> branch() const {
    const StateStore store = open_store(home_.path());
    return branch_of(store, only_thread(store).id);
  }

  TempDir home_;
  std::optional<TerminalProgram> program_;
};

TEST_F(ChatTerminalTest, AnswersAndQuitsWithCtrlD) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("hello\r");
  chat.expect("echo: hello\r\n#2");
  chat.expect("> ");
  chat.type("\x04");
  chat.expect("threadstore resume ");
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_THAT(branch(), ElementsAre("user: hello", "assistant: echo: hello"));
}

TEST_F(ChatTerminalTest, CtrlCClearsTheLine) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("unwanted");
  chat.expect("unwanted");
  chat.type("\x03");
  chat.expect("^C");
  chat.expect("> ");
  chat.type("wanted\r");
  chat.expect("echo: wanted");
  chat.expect("> ");
  chat.type("/quit\r");
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_THAT(branch(), ElementsAre("user: wanted", "assistant: echo: wanted"));
}

TEST_F(ChatTerminalTest, TextOfAnyLanguageIsTypedUnderLangC) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("naïve 中文 😀\r");
  chat.expect("echo: naïve 中文 😀");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_EQ(branch().at(0), "user: naïve 中文 😀");
}

TEST_F(ChatTerminalTest, APasteOfSeveralLinesIsOneMessage) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("see: \x1b[200~first\rsecond\r\x1b[201~ done\r");
  chat.expect("second done\r\n#2");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_EQ(branch().at(0), "user: see: first\nsecond done");
}

TEST_F(ChatTerminalTest, TheArrowKeyBringsBackWhatWasSaid) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("hello\r");
  chat.expect("#2");
  chat.expect("> ");
  chat.type("\x1b[A!\r");
  chat.expect("echo: hello!");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
}

TEST_F(ChatTerminalTest, ControlCharactersOfAnAnswerAreShown) {
  TerminalProgram& chat = start({"--exec", "printf 'a\\033[2Jb\\303'; printf '\\251c'"});
  chat.expect("> ");
  chat.type("go\r");
  chat.expect("a\\x1b[2Jbéc\r\n#2");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_THAT(branch(), ElementsAre("user: go", "assistant: a\x1b[2Jbéc"));
}

TEST_F(ChatTerminalTest, CtrlCEndsTheCommandAndKeepsItsOutput) {
  // exec: a shell that is just starting another program may lose the signal for both.
  TerminalProgram& chat = start({"--exec", "echo begun; exec sleep 60"});
  chat.expect("> ");
  chat.type("go\r");
  chat.expect("begun");
  chat.type("\x03");
  chat.expect("interrupted: exit status 130");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_THAT(branch(), ElementsAre("user: go", "assistant: begun\n"));
}

TEST_F(ChatTerminalTest, ASecondCtrlCKillsWhatIgnoresTheFirst) {
  TerminalProgram& chat =
      start({"--exec", "trap 'echo no' INT; echo begun; while :; do sleep 1; done"});
  chat.expect("> ");
  chat.type("go\r");
  chat.expect("begun");
  chat.type("\x03");
  chat.expect("no");
  chat.type("\x03");
  chat.expect("exit status 137");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_THAT(branch(), ElementsAre("user: go", "assistant: begun\nno\n"));
}

TEST_F(ChatTerminalTest, AnUnknownCommandIsSaidAndTheChatGoesOn) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("/hepl\r");
  chat.expect("do you mean /help?");
  chat.expect("> ");
  chat.type("/help\r");
  chat.expect("/switch ID");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
}

TEST_F(ChatTerminalTest, AClosedTerminalGivesTheThreadBack) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("hello\r");
  chat.expect("#2");
  chat.expect("> ");
  chat.kill(SIGHUP);
  EXPECT_EQ(chat.wait(), 0);
  EXPECT_EQ(only_thread(open_store(home_.path())).status, ThreadStatus::idle);
}

TEST_F(ChatTerminalTest, AResizedTerminalKeepsTheLine) {
  TerminalProgram& chat = start({});
  chat.expect("> ");
  chat.type("before ");
  chat.expect("before");
  chat.resize(40, 12);
  chat.expect("before");
  chat.type("after\r");
  chat.expect("echo: before after\r\n#2");
  chat.expect("> ");
  chat.type("\x04");
  EXPECT_EQ(chat.wait(), 0);
}

// Two terminals on one thread: the second chooses.
class ChatChoiceTest : public ChatTerminalTest {
 protected:
  void SetUp() override {
    TerminalProgram& first = start({"--name", "shared"});
    first.expect("> ");
    first.type("one\r");
    first.expect("echo: one\r\n#2");
    first.expect("shared [held]> ");
    second_.emplace(chat_command(home_.path(), {"shared"}));
    second_->expect("is held by threadstore chat");
    second_->expect(std::to_string(first.pid()));
    second_->expect("Choice [f]: ");
  }

  std::optional<TerminalProgram> second_;
};

TEST_F(ChatChoiceTest, ForkIsTheDefault) {
  second_->type("\r");
  second_->expect("Forked");
  second_->expect("echo: one");
  second_->expect("> ");
  second_->type("two\r");
  second_->expect("echo: two");
  EXPECT_EQ(open_store(home_.path()).threads().count(), 2);
}

TEST_F(ChatChoiceTest, AttachFollowsAndOffersToGoOn) {
  second_->type("a\r");
  second_->expect("Following");
  program_->type("two\r");
  second_->expect("echo: two");
  program_->kill(SIGKILL);
  second_->expect("Continue it here? [Y/n] ");
  second_->type("y\r");
  second_->expect("interrupted");
  second_->expect("shared [held]> ");
  second_->type("three\r");
  second_->expect("echo: three\r\n#6");
}

TEST_F(ChatChoiceTest, CtrlCEndsFollowing) {
  second_->type("a\r");
  second_->expect("Following");
  second_->type("\x03");
  EXPECT_EQ(second_->wait(), 0);
}

TEST_F(ChatChoiceTest, WaitComesInWhenTheFirstEnds) {
  second_->type("w\r");
  second_->expect("Waiting");
  program_->type("\x04");
  EXPECT_EQ(program_->wait(), 0);
  second_->expect("shared [held]> ");
}

TEST_F(ChatChoiceTest, TheOneTakenOverIsAskedAndCanBranch) {
  second_->type("t\r");
  second_->expect("Taken over");
  second_->expect("shared [held]> ");
  second_->type("two\r");
  second_->expect("echo: two\r\n#4");
  program_->type("three\r");
  program_->expect("taken over by threadstore chat");
  program_->expect("Choice [f]: ");
  program_->type("b\r");
  program_->expect("up to #4");
  program_->expect("echo: three\r\n#6");
  const StateStore store = open_store(home_.path());
  EXPECT_THAT(
      branch_of(store, only_thread(store).id, MessageId{6}),
      ElementsAre("user: one", "assistant: echo: one", "user: three", "assistant: echo: three"));
  EXPECT_EQ(only_thread(store).current_leaf_id, MessageId{4});
}

TEST_F(ChatChoiceTest, QuitTouchesNothing) {
  second_->type("q\r");
  EXPECT_EQ(second_->wait(), 0);
  EXPECT_EQ(open_store(home_.path()).threads().count(), 1);
}

}  // namespace
}  // namespace threadstore::test
