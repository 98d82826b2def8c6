#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/chat_program.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A chat that a script drives: lines in, answers out.
class ChatScriptTest : public testing::Test {
 protected:
  ProgramRun chat(const std::vector<std::string>& arguments, const std::string& input) {
    return run_program(chat_command(home_.path(), arguments), input, scratch_.path());
  }

  // The branch of the only thread after a chat with one line and that command.
  std::vector<std::string> answered_by(const std::string& command, int status = 0) {
    last_ = chat({"--exec", command}, "question\n");
    EXPECT_EQ(last_.status, status) << last_.err;
    const StateStore store = open_store(home_.path());
    return branch_of(store, only_thread(store).id);
  }

  TempDir home_;
  TempDir scratch_;
  ProgramRun last_;
};

TEST_F(ChatScriptTest, PrintsTheRepliesAndTheTree) {
  const ProgramRun run = chat({}, "hello\nsecond line\n/tree\n/quit\n");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out,
            "echo: hello\n"
            "echo: second line\n"
            "○ #1 user  hello\n"
            "○ #2 assistant  echo: hello\n"
            "○ #3 user  second line\n"
            "● #4 assistant  echo: second line  ← current\n");
}

TEST_F(ChatScriptTest, TheThreadIsMadeWithItsFirstLine) {
  EXPECT_EQ(chat({}, "/help\n/tree\n\n   \n/quit\n").status, 0);
  EXPECT_EQ(open_store(home_.path()).threads().count(), 0);
}

TEST_F(ChatScriptTest, TheFirstLineIsThePreviewAndTheThreadIsIdleAfter) {
  std::string line;
  for (int i = 0; i < 100; ++i) line += "ä";
  EXPECT_EQ(chat({"--name", "letters"}, line + "\nmore\n").status, 0);
  const Thread thread = only_thread(open_store(home_.path()));
  EXPECT_EQ(thread.preview, line.substr(0, 120));
  EXPECT_EQ(thread.name, "letters");
  EXPECT_EQ(thread.status, ThreadStatus::idle);
  EXPECT_EQ(thread.source, SessionSource::interactive);
}

TEST_F(ChatScriptTest, ALastLineWithoutLineBreakAndCarriageReturnsCount) {
  EXPECT_EQ(chat({}, "one\r\ntwo").out, "echo: one\necho: two\n");
}

TEST_F(ChatScriptTest, InvalidUtf8IsReplacedWithAWarning) {
  const ProgramRun run = chat({},
                              "a\xff"
                              "b\n");
  EXPECT_EQ(run.out, "echo: a\uFFFDb\n");
  EXPECT_THAT(run.err, HasSubstr("UTF-8"));
}

TEST_F(ChatScriptTest, AnUnknownCommandIsSaidAndSuggests) {
  const ProgramRun run = chat({}, "/tre\n/swich 3\n/usr/bin/env is odd\n");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("no command /tre; do you mean /tree?"));
  EXPECT_THAT(run.err, HasSubstr("do you mean /switch?"));
  EXPECT_THAT(run.err, HasSubstr("begin it with two slashes"));
  EXPECT_EQ(open_store(home_.path()).threads().count(), 0);
}

TEST_F(ChatScriptTest, TwoSlashesSendALineThatBeginsWithOne) {
  EXPECT_EQ(chat({}, "//usr/bin\n").out, "echo: /usr/bin\n");
}

TEST_F(ChatScriptTest, BackGoesBeforeTheLastThingSaid) {
  EXPECT_EQ(chat({}, "one\ntwo\n/back\nthree\n").status, 0);
  const StateStore store = open_store(home_.path());
  const ThreadId thread = only_thread(store).id;
  EXPECT_THAT(branch_of(store, thread), ElementsAre("user: one", "assistant: echo: one",
                                                    "user: three", "assistant: echo: three"));
  EXPECT_EQ(store.messages().count(thread), 6);
}

TEST_F(ChatScriptTest, SwitchGoesToAnotherBranch) {
  EXPECT_EQ(chat({}, "one\ntwo\n/switch 2\nthree\n/switch 4\nfour\n").status, 0);
  const StateStore store = open_store(home_.path());
  EXPECT_THAT(branch_of(store, only_thread(store).id),
              ElementsAre("user: one", "assistant: echo: one", "user: two", "assistant: echo: two",
                          "user: four", "assistant: echo: four"));
}

TEST_F(ChatScriptTest, AMessageThatIsNotThereIsSaidAndTheChatGoesOn) {
  const ProgramRun run = chat({}, "one\n/switch 77\n/switch x\n/switch\ntwo\n");
  EXPECT_EQ(run.out, "echo: one\necho: two\n");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("77"));
  EXPECT_THAT(run.err, HasSubstr("/switch ID"));
}

TEST_F(ChatScriptTest, ForkGoesOnInANewThread) {
  EXPECT_EQ(chat({"--name", "first"}, "one\ntwo\n/fork 2\nthree\n").status, 0);
  const StateStore store = open_store(home_.path());
  const Thread source = store.threads().find_by_name("first").at(0);
  EXPECT_THAT(branch_of(store, source.id), ElementsAre("user: one", "assistant: echo: one",
                                                       "user: two", "assistant: echo: two"));
  for (const Thread& thread : store.threads().list().items) {
    EXPECT_EQ(thread.status, ThreadStatus::idle);
    if (thread.id == source.id) continue;
    EXPECT_EQ(thread.forked_from->thread_id, source.id);
    EXPECT_THAT(branch_of(store, thread.id), ElementsAre("user: one", "assistant: echo: one",
                                                         "user: three", "assistant: echo: three"));
  }
}

TEST_F(ChatScriptTest, AThreadIsContinuedByNameAndByLast) {
  EXPECT_EQ(chat({"--name", "first"}, "one\n").status, 0);
  EXPECT_EQ(chat({"first"}, "two\n").status, 0);
  EXPECT_EQ(chat({"--last"}, "three\n/name renamed\n").status, 0);
  EXPECT_EQ(chat({}, "/resume renamed\nfour\n").status, 0);
  const StateStore store = open_store(home_.path());
  const Thread thread = only_thread(store);
  EXPECT_EQ(thread.name, "renamed");
  EXPECT_EQ(thread.preview, "one");
  EXPECT_EQ(store.messages().count(thread.id), 8);
}

TEST_F(ChatScriptTest, AThreadThatIsNotThereIsNotFoundAndMakesNoStore) {
  EXPECT_EQ(chat({"nowhere"}, "one\n").status, 3);
  EXPECT_FALSE(std::filesystem::exists(home_ / "state.db"));
}

TEST_F(ChatScriptTest, NewAndLastExcludeEachOther) {
  EXPECT_EQ(chat({"--new", "--last"}, "").status, 2);
  EXPECT_EQ(chat({"--ephemeral", "some"}, "").status, 2);
  EXPECT_EQ(chat({"--on-busy", "perhaps"}, "").status, 2);
}

TEST_F(ChatScriptTest, AnEphemeralChatReachesNoDisk) {
  const ProgramRun run = chat({"--ephemeral"}, "one\n/fork\ntwo\n/tree\n");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("echo: two  ← current"));
  EXPECT_TRUE(std::filesystem::is_empty(home_.path()));
}

TEST_F(ChatScriptTest, ACommandAnswersAndIsStored) {
  EXPECT_THAT(answered_by("cat >/dev/null; echo hi"),
              ElementsAre("user: question", "assistant: hi\n"));
  EXPECT_EQ(last_.out, "hi\n");
}

TEST_F(ChatScriptTest, ACommandGetsTheConversationAndTheThread) {
  const std::string file = (scratch_ / "document").string();
  answered_by("cat >" + file + "; echo $THREADSTORE_THREAD_ID");
  const StateStore store = open_store(home_.path());
  const std::string id = only_thread(store).id.str();
  EXPECT_EQ(last_.out, id + "\n");
  const nlohmann::json document = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(document.at("thread").at("id"), id);
  EXPECT_EQ(document.at("messages"),
            nlohmann::json::parse(R"([{"role":"user","content":"question","item":null}])"));
}

TEST_F(ChatScriptTest, AFailedCommandKeepsWhatItPrintedWithItsStatus) {
  EXPECT_THAT(answered_by("echo part; exit 3"), ElementsAre("user: question", "assistant: part\n"));
  EXPECT_THAT(last_.err, HasSubstr("exit status 3"));
  const StateStore store = open_store(home_.path());
  const Thread thread = only_thread(store);
  EXPECT_EQ(store.messages().get(thread.id, *thread.current_leaf_id).item, R"({"exit_status":3})");
}

TEST_F(ChatScriptTest, EmptyOutputIsNotStored) {
  EXPECT_THAT(answered_by("exit 4"), ElementsAre("user: question"));
  EXPECT_THAT(last_.err, HasSubstr("exit status 4"));
}

TEST_F(ChatScriptTest, RetryAsksAgainWithoutSayingItTwice) {
  const std::string flag = (scratch_ / "flag").string();
  const ProgramRun run =
      chat({"--exec", "test -e " + flag + " && echo yes; touch " + flag}, "question\n/retry\n");
  EXPECT_EQ(run.out, "yes\n");
  const StateStore store = open_store(home_.path());
  EXPECT_THAT(branch_of(store, only_thread(store).id),
              ElementsAre("user: question", "assistant: yes\n"));
}

TEST_F(ChatScriptTest, OutputThatIsNotUtf8IsCleaned) {
  EXPECT_THAT(answered_by("printf 'a\\377b'"),
              ElementsAre("user: question", "assistant: a\uFFFDb"));
}

TEST_F(ChatScriptTest, BigInputAndOutputDoNotWaitForEachOther) {
  const std::string words(300'000, 'w');
  const ProgramRun run =
      chat({"--exec", "head -c 300000 /dev/zero | tr '\\0' x; wc -c"}, words + "\n");
  EXPECT_EQ(run.status, 0);
  EXPECT_GT(run.out.size(), 300'000U);
  EXPECT_GT(std::stol(run.out.substr(300'000)), 300'000);
}

TEST_F(ChatScriptTest, ACommandNeedNotReadItsInput) {
  EXPECT_EQ(chat({"--exec", "exec <&-; echo done"}, std::string(300'000, 'w') + "\n").out,
            "done\n");
}

}  // namespace
}  // namespace threadstore::test
