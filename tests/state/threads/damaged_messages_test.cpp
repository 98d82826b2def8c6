#include "tests/state/threads/records_test.h"

namespace threadstore::test {
namespace {

class DamagedMessagesTest : public RecordsTest {
 protected:
  Check checked(const std::string& name) {
    for (const Check& check : store.check()) {
      if (check.name == name) return check;
    }
    return {};
  }

  ThreadId thread = make_thread("t1");
};

TEST_F(DamagedMessagesTest, OneFlippedBitInEachOfAThousandMessagesIsFoundAThousandTimes) {
  std::vector<NewMessage> messages(2000, {.role = "user", .content = "the same words"});
  for (std::size_t i = 0; i < messages.size(); i += 3) messages[i].item = R"({"n":1})";
  const auto ids = store.messages().append_many(thread, messages).ids;
  EXPECT_EQ(store.messages().find_damaged().size(), 0u);

  // The lowest bit of one byte of every second message, another byte from row to row.
  other.run(
      "UPDATE messages SET content = substr(content, 1, id % 14) || "
      "char(unicode(substr(content, id % 14 + 1, 1)) + 1 "
      "     - 2 * (unicode(substr(content, id % 14 + 1, 1)) & 1)) || "
      "substr(content, id % 14 + 2) WHERE id % 2 = 0");
  std::vector<MessageId> expected;
  for (const MessageId id : ids) {
    if (to_int(id) % 2 == 0) expected.push_back(id);
  }
  std::vector<MessageId> found;
  for (const DamagedMessage& damaged : store.messages().find_damaged()) {
    EXPECT_TRUE(damaged.checksum_mismatch);
    EXPECT_EQ(damaged.thread_id, thread);
    found.push_back(damaged.id);
  }
  ASSERT_EQ(expected.size(), 1000u);
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(store.messages().get(thread, expected[0]).checksum_mismatch);
  const Check check = checked("messages");
  EXPECT_EQ(check.status, CheckStatus::failed);
  EXPECT_THAT(check.detail, ::testing::StartsWith("1000 messages are not what was stored: 2, 4, "));
}

TEST_F(DamagedMessagesTest, ADamagedItemAndRoleAreFoundAndForeignRowsAreNot) {
  const MessageId item =
      store.messages().append(thread, {.role = "user", .content = "c", .item = "[1]"}).id;
  const MessageId role = store.messages().append(thread, {.role = "user", .content = "c"}).id;
  other.run(
      "INSERT INTO messages (thread_id, role, content, created_at) "
      "VALUES ('t1', 'user', 'theirs', 1)");
  other.run("UPDATE messages SET item_json = '[1' WHERE id = " + std::to_string(to_int(item)));
  other.run("UPDATE messages SET role = 'usdr' WHERE id = " + std::to_string(to_int(role)));
  const std::vector<DamagedMessage> expected{
      {.id = item, .thread_id = thread, .item_damaged = true, .checksum_mismatch = true},
      {.id = role, .thread_id = thread, .item_damaged = false, .checksum_mismatch = true}};
  EXPECT_EQ(store.messages().find_damaged(), expected);
}

TEST_F(DamagedMessagesTest, TheDoctorNamesDamagedRecordsBesideMessages) {
  EXPECT_EQ(checked("records").status, CheckStatus::ok);
  store.checkpoints().save(thread, {.id = CheckpointId("good")});
  store.checkpoints().save(thread, {.id = CheckpointId("bad")});
  store.tools().replace(thread, {{.name = "grep"}});
  store.goals().set(thread, {.objective = "o"});
  other.run("UPDATE checkpoints SET state_json = '{' WHERE checkpoint_id = 'bad'");
  other.run("UPDATE thread_dynamic_tools SET input_schema = '{'");
  other.run("UPDATE thread_goals SET pause_reason = 'user'");
  EXPECT_EQ(checked("records").detail,
            "3 records are damaged: checkpoint 'bad' of thread t1, tool 'grep' of thread t1, "
            "the goal of thread t1");
}

}  // namespace
}  // namespace threadstore::test
