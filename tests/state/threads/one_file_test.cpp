#include "tests/state/threads/records_test.h"
#include "tests/support/child_process.h"

namespace threadstore::test {
namespace {

constexpr int kRounds = 150;

/// One file with the Rust original: it writes while we write, and both read what the other wrote.
class OneFileTest : public RecordsTest {
 protected:
  void write_round(int number) {
    const std::string n = std::to_string(number);
    store.messages().append(thread, {.role = "assistant", .content = "ours " + n});
    store.checkpoints().save(thread, {.id = CheckpointId("ours-" + std::to_string(number % 5)),
                                      .state = "{\"round\":" + n + "}"});
    store.jobs().save({.id = JobId("ours-" + n), .name = "n", .progress = 50});
    store.goals().record_usage(thread, {.tokens = 2, .seconds = 1});
    store.tools().replace(thread, {{.name = "a"}, {.name = "b"}});
  }

  ThreadId thread = make_thread("shared");
};

TEST_F(OneFileTest, TheOriginalWritesWhileWeWriteAndNothingIsLost) {
  store.goals().set(thread, {.objective = "o"});
  ChildProcess original({ORIGINAL_ACTOR, file.string(), "shared", std::to_string(kRounds)});
  ASSERT_EQ(original.read_line(), "ready");
  original.write_line("go");
  for (int number = 0; number < kRounds; ++number) write_round(number);
  ASSERT_EQ(original.read_line(std::chrono::seconds(60)), "done");
  ASSERT_EQ(original.wait(), 0);

  // We read what the original wrote, in one branch with ours.
  const auto branch = store.messages().list(thread, {.limit = 1000}).messages;
  ASSERT_EQ(branch.size(), 2u * kRounds);
  int theirs = 0;
  int ours = 0;
  for (const Message& message : branch) {
    int& expected = message.role == "user" ? theirs : ours;
    EXPECT_EQ(message.content,
              (message.role == "user" ? "original " : "ours ") + std::to_string(expected));
    EXPECT_FALSE(message.checksum_mismatch);
    ++expected;
  }
  EXPECT_EQ(store.checkpoints().list(thread).items.size(), 10u);
  EXPECT_EQ(store.checkpoints().get(thread, CheckpointId("original-4")).state,
            "{\"round\":" + std::to_string(kRounds - 1) + "}");
  EXPECT_EQ(store.jobs().list({.limit = 1000}).items.size(), 2u * kRounds);
  EXPECT_EQ(store.goals().get(thread).tokens_used, 5 * kRounds);
  EXPECT_EQ(store.threads().get(thread).preview, "round " + std::to_string(kRounds - 1));

  // The original reads what we wrote.
  EXPECT_EQ(other.ask("SELECT count(*) FROM messages WHERE thread_id = 'shared'"),
            std::to_string(2 * kRounds));
  EXPECT_EQ(other.ask("SELECT state_json FROM checkpoints WHERE thread_id = 'shared' "
                      "AND checkpoint_id = 'ours-4'"),
            "{\"round\":" + std::to_string(kRounds - 1) + "}");
  EXPECT_EQ(other.ask("SELECT name, position, input_schema FROM thread_dynamic_tools "
                      "WHERE thread_id = 'shared' ORDER BY position ASC"),
            "a|0|{}\nb|1|{}");
  EXPECT_EQ(other.ask("SELECT status, progress FROM jobs WHERE id = 'ours-7'"), "queued|50");
  EXPECT_EQ(other.ask("PRAGMA user_version"), "5");
  EXPECT_EQ(other.ask("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(other.ask("PRAGMA foreign_key_check"), "");
}

TEST_F(OneFileTest, TheOriginalDeletesAThreadWithAllThatWeAddedToIt) {
  store.messages().append(thread, {.role = "user", .content = "c"}, {.key = "k"});
  store.checkpoints().save(thread, {.id = CheckpointId("c")});
  store.goals().set(thread, {.objective = "o"});
  store.tools().replace(thread, {{.name = "a"}});
  other.run("DELETE FROM threads WHERE id = 'shared'");
  EXPECT_EQ(other.ask("SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM checkpoints), "
                      "(SELECT count(*) FROM thread_goals), (SELECT count(*) FROM message_keys), "
                      "(SELECT count(*) FROM thread_dynamic_tools)"),
            "0|0|0|0|0");
  EXPECT_EQ(store.threads().find(thread), std::nullopt);
}

}  // namespace
}  // namespace threadstore::test
