// The exit codes that scripts rely on when several processes meet.
#include <gmock/gmock.h>
#include <signal.h>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

class ProgramTest : public StoreFixture {
 protected:
  /// Runs the program on the store to its end; its exit code. What it prints goes to `printed_`.
  int run(const std::vector<std::string>& arguments) {
    Command line{THREADSTORE_PROGRAM, "--home", home(), "--wait", "0.3", "--quiet"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    ChildProcess program(line);
    program.close_input();
    printed_ = ::testing::PrintToString(read_lines(program));
    return program.wait();
  }

  /// Whether the index knows the thread by that name.
  bool index_finds(const std::string& name, const ThreadId& thread) {
    EXPECT_EQ(run({"--json", "index", "find", name}), 0);
    return printed_.find(thread.str()) != std::string::npos;
  }

  std::string printed_;
};

TEST_F(ProgramTest, AHeldWriteTransactionEndsItAsBusy) {
  const std::string thread = make_thread(open(), "held").str();
  ProcessSwarm holder({actor("hold-write")});
  EXPECT_EQ(run({"append", thread, "--role", "user", "--content", "hello"}), 5);
  EXPECT_EQ(run({"show", thread}), 0);
}

TEST_F(ProgramTest, AHeldIndexLockEndsCompactionAsBusyAndARenameWell) {
  const ThreadId thread = make_thread(open(), "before");
  for (const char* family : {"hold-flock", "hold-fcntl"}) {
    ProcessSwarm holder({actor_on(index_lock(), family)});
    EXPECT_EQ(run({"index", "compact"}), 5) << family;
    EXPECT_EQ(run({"rename", thread.str(), family}), 0);
    EXPECT_FALSE(index_finds(family, thread)) << "the index learnt a name without its lock";
    holder.stop();
    holder.finish();
    EXPECT_EQ(run({"append", thread.str(), "--role", "user", "--content", "next"}), 0);
    EXPECT_TRUE(index_finds(family, thread)) << "the next write did not bring the name in";
  }
}

TEST_F(ProgramTest, AStaleExpectedLeafIsAConflictOrABranch) {
  const auto store = open();
  const ThreadId thread = make_thread(store);
  const auto seen = store.messages().append(thread, {.role = "user", .content = "seen"}).id;
  store.messages().append(thread, {.role = "user", .content = "meanwhile"});
  std::vector<std::string> append{"append",    thread.str(), "--role",        "user",
                                  "--content", "late",       "--expect-leaf", ""};
  append.back() = std::to_string(to_int(seen));
  EXPECT_EQ(run(append), 4);
  EXPECT_EQ(store.messages().count(thread), 2);
  append.insert(append.end(), {"--on-conflict", "branch"});
  EXPECT_EQ(run(append), 0);
  EXPECT_EQ(store.messages().children(thread, seen).size(), 2U);
}

TEST_F(ProgramTest, TheDoctorReportsEveryDamagedMessageAndShowMarksIt) {
  ThreadId thread;
  {
    const auto store = open();
    thread = make_thread(store);
    std::vector<NewMessage> messages(1000, {.role = "user", .content = "b"});
    messages.push_back({.role = "user", .content = "whole"});
    store.messages().append_many(thread, messages);
  }
  // One bit in each of the thousand.
  plain_query(database(), "UPDATE messages SET content = 'c' WHERE content = 'b'");
  EXPECT_EQ(run({"doctor"}), 6);
  EXPECT_THAT(printed_, ::testing::HasSubstr("1000 messages"));
  EXPECT_EQ(run({"show", thread.str(), "--limit", "2"}), 0);
  EXPECT_THAT(printed_, ::testing::HasSubstr("damaged"));
  EXPECT_EQ(run({"show", thread.str(), "--limit", "2", "--json"}), 0);
  EXPECT_THAT(printed_, ::testing::HasSubstr("checksum"));
  EXPECT_EQ(run({"show", thread.str(), "--limit", "1", "--json"}), 0);
  EXPECT_THAT(printed_, ::testing::Not(::testing::HasSubstr("checksum")));
}

TEST_F(ProgramTest, TheDoctorIsContentAfterAWriterWasKilled) {
  const std::string thread = make_thread(open()).str();
  ProcessSwarm writer({actor("write", {thread, thread, "word"})});
  writer.go();
  for (int line = 0; line < 10; ++line) ASSERT_TRUE(writer[0].read_line());
  writer.kill(SIGKILL);
  writer[0].wait();
  open();  // mends what the dead writer owed the index
  EXPECT_EQ(run({"doctor"}), 0);
}

}  // namespace
}  // namespace threadstore::test
