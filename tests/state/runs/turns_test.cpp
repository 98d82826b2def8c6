#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class Fixture>
class TurnsFixture : public Fixture {
 protected:
  using Fixture::store_;
  NewTurn question(const std::string& words) const {
    return {.thread = thread_,
            .message = {.role = "user", .content = words},
            .run = {.agent_name = "chat", .agent_version = "1", .model = "m"},
            .program = "chat"};
  }
  TurnEnd reply(const std::string& words) const {
    return {.end = RunEnd::completed(words), .reply = {{.role = "assistant", .content = words}}};
  }
  std::vector<std::string> branch() const {
    std::vector<std::string> words;
    for (const Message& message : store_.messages().list(thread_).messages) {
      words.push_back(message.content);
    }
    return words;
  }

  const ThreadId thread_ = store_.threads().create({}).thread.id;
};

class TurnsTest : public TurnsFixture<RunFixture> {};
class TurnsFileTest : public TurnsFixture<RunFileFixture> {};

TEST_F(TurnsTest, ATurnIsAMessageARunAndAReply) {
  const Turn turn = runs_.turns().begin(question("why?"));
  EXPECT_EQ(turn.run.input, "why?");
  EXPECT_EQ(turn.run.thread_id, thread_);
  EXPECT_EQ(turn.run.trigger_message_id, turn.message.id);
  EXPECT_TRUE(turn.lease->still_held());
  EXPECT_EQ(runs_.turns().find(thread_, turn.message.id), turn.run);
  Runs held = runs_.holding(turn.run.id, turn.lease->token());
  const FinishedTurn done = held.turns().finish(turn.run.id, reply("because"));
  EXPECT_EQ(done.run.outcome, RunOutcome::completed);
  EXPECT_EQ(done.run.reply_message_id, done.reply->id);
  EXPECT_EQ(done.reply->parent_entry_id, turn.message.id);
  EXPECT_FALSE(done.reply->branched);
  EXPECT_THAT(branch(), ElementsAre("why?", "because"));
}

TEST_F(TurnsTest, AnExpectedLeafThatIsGoneMakesNeitherMessageNorRun) {
  NewTurn turn = question("why?");
  turn.append.expected_leaf = ExpectedLeaf{MessageId{99}};
  EXPECT_EQ(error_of([&] { runs_.turns().begin(turn); }), ErrorCode::conflict);
  turn = question("why?");
  turn.run.model = "";
  EXPECT_EQ(error_of([&] { runs_.turns().begin(turn); }), ErrorCode::invalid_argument);
  EXPECT_THAT(branch(), IsEmpty());
  EXPECT_THAT(runs_.list().items, IsEmpty());
}

TEST_F(TurnsTest, AKeyThatComesAgainGivesTheSameTurn) {
  NewTurn turn = question("why?");
  turn.append.key = "k";
  const Turn first = runs_.turns().begin(turn);
  const Turn again = runs_.turns().begin(turn);
  EXPECT_EQ(again.run, first.run);
  EXPECT_TRUE(again.message.replayed);
  EXPECT_FALSE(again.lease);
  EXPECT_THAT(branch(), ElementsAre("why?"));
}

TEST_F(TurnsTest, AReplyToAMovedThreadIsABranchAndSaysWhere) {
  const Turn turn = runs_.turns().begin(question("why?"));
  const Appended other = store_.messages().append(thread_, {.role = "user", .content = "wait"});
  const FinishedTurn done = runs_.turns().finish(turn.run.id, reply("because"));
  EXPECT_TRUE(done.reply->branched);
  EXPECT_EQ(done.reply->current_leaf_id, other.id);
  EXPECT_EQ(done.reply->parent_entry_id, turn.message.id);
  EXPECT_THAT(branch(), ElementsAre("why?", "wait"));
}

TEST_F(TurnsTest, AReplyCanFollowTheTurnsOwnMessages) {
  const Turn turn = runs_.turns().begin(question("why?"));
  const Appended step = store_.messages().append(thread_, {.role = "tool", .content = "ls"});
  TurnEnd end = reply("because");
  end.under = step.id;
  end.reply.insert(end.reply.begin(), {.role = "assistant", .content = "hm"});
  EXPECT_FALSE(runs_.turns().finish(turn.run.id, end).reply->branched);
  EXPECT_THAT(branch(), ElementsAre("why?", "ls", "hm", "because"));
}

TEST_F(TurnsTest, ARefusedFinishStoresNoReply) {
  const Turn turn = runs_.turns().begin(question("why?"));
  runs_.calls().request(turn.run.id, {CallId("c"), "sh"});
  EXPECT_EQ(error_of([&] { runs_.turns().finish(turn.run.id, reply("x")); }), ErrorCode::conflict);
  EXPECT_THAT(branch(), ElementsAre("why?"));
  const RunId loose = start().id;
  EXPECT_EQ(error_of([&] { runs_.turns().finish(loose, reply("x")); }), ErrorCode::conflict);
}

TEST_F(TurnsTest, ATurnWithoutAReplyIsStillOnRecord) {
  const Turn turn = runs_.turns().begin(question("why?"));
  const FinishedTurn done = runs_.turns().finish(turn.run.id, {.end = RunEnd::failed("exit 1")});
  EXPECT_EQ(done.run.error, "exit 1");
  EXPECT_FALSE(done.reply);
}

TEST_F(TurnsFileTest, ADeadHoldersTurnIsInterruptedAndCanBeTakenOver) {
  Turn turn = runs_.turns().begin(question("why?"));
  EXPECT_FALSE(runs_.get(turn.run.id).interrupted);
  // A dead process leaves the row of its lease behind, and the kernel frees the lock.
  const auto connection = open_sqlite(file_);
  sql(connection.get(), "CREATE TABLE kept AS SELECT * FROM leases WHERE kind = 'run'");
  turn.lease.reset();
  sql(connection.get(), "INSERT INTO leases SELECT * FROM kept");
  EXPECT_TRUE(runs_.get(turn.run.id).interrupted);
  EXPECT_EQ(runs_.list({.interrupted_only = true}).items.size(), 1U);
  const HeldRun rescued = runs_.acquire(turn.run.id, "chat");
  EXPECT_FALSE(rescued.run.interrupted);
  EXPECT_EQ(types(turn.run.id).back(), "run.taken_over");
  EXPECT_EQ(newest_payload(turn.run.id)["was_alive"], false);
  EXPECT_THAT(runs_.list({.interrupted_only = true}).items, IsEmpty());
}

TEST_F(TurnsTest, AStoredMessageIsAnsweredAndTheCallerStoresTheReply) {
  const MessageId asked = store_.messages().append(thread_, {.role = "user", .content = "why?"}).id;
  const NewRun run{.agent_name = "chat", .agent_version = "1", .model = "m", .input = "why?"};
  const HeldRun first = runs_.turns().begin_for(thread_, asked, run, "chat");
  runs_.finish(first.run.id, RunEnd::failed("no"));
  const HeldRun again = runs_.turns().begin_for(thread_, asked, run, "chat");
  EXPECT_EQ(runs_.turns().find(thread_, asked)->id, again.run.id);
  const std::vector<Run> both = runs_.turns().list(thread_, asked);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].id, first.run.id);
  EXPECT_EQ(both[1].id, again.run.id);
  const MessageId reply =
      store_.messages().append(thread_, {.role = "assistant", .content = "so"}).id;
  EXPECT_EQ(
      runs_.turns().finish_with(again.run.id, RunEnd::completed("so"), reply).reply_message_id,
      reply);
  EXPECT_EQ(error_of([&] { runs_.turns().begin_for(thread_, MessageId{99}, run, "chat"); }),
            ErrorCode::not_found);
}

TEST_F(TurnsFileTest, RunsGoWithTheirThreadAndAreCounted) {
  const Turn turn = runs_.turns().begin(question("why?"));
  const RunId child = delegate(turn.run.id, "c").id;
  const RunId loose = start().id;
  store_.transaction([&] {
    for (int i = 0; i < 450; ++i) runs_.log().append(child, "note.x");
  });
  runs_.checkpoints().save(child, {});
  const RemovedThread removed = store_.threads().remove(thread_);
  EXPECT_EQ(removed.runs, 2);
  EXPECT_EQ(runs_.find(turn.run.id), std::nullopt);
  EXPECT_EQ(runs_.find(child), std::nullopt);
  EXPECT_NE(runs_.find(loose), std::nullopt);
  const auto connection = open_sqlite(file_);
  for (const char* table : {"run_events", "run_calls", "run_checkpoints", "run_working_state"}) {
    EXPECT_EQ(ask(connection.get(), std::string("SELECT count(*) FROM ") + table +
                                        " WHERE run_id <> '" + loose.str() + "'"),
              "0");
  }
}

TEST_F(TurnsFileTest, RunsOfAThreadThatIsBeingRemovedAreGone) {
  const Turn turn = runs_.turns().begin(question("why?"));
  const std::int64_t seen = runs_.log().newest_gid() - 1;
  sql(open_sqlite(file_).get(), "INSERT INTO thread_removals(thread_id, kind, up_to_id) VALUES ('" +
                                    thread_.str() + "', 'remove', 9)");
  EXPECT_EQ(runs_.find(turn.run.id), std::nullopt);
  EXPECT_THAT(runs_.list().items, IsEmpty());
  EXPECT_THAT(runs_.log().since(seen), IsEmpty());
  EXPECT_EQ(error_of([&] { runs_.log().append(turn.run.id, "note.x"); }), ErrorCode::not_found);
}

TEST_F(TurnsTest, DetachedRunsSurviveTheirThread) {
  const Turn turn = runs_.turns().begin(question("why?"));
  EXPECT_EQ(runs_.detach(thread_), 1);
  EXPECT_EQ(store_.threads().remove(thread_).runs, 0);
  EXPECT_EQ(runs_.get(turn.run.id).thread_id, std::nullopt);
  expect_sound(turn.run.id);
}

TEST_F(TurnsFileTest, AnotherProgramsPlainDeleteTakesTheRunsAlong) {
  const Turn turn = runs_.turns().begin(question("why?"));
  sql(open_sqlite(file_).get(),
      "PRAGMA foreign_keys=ON; DELETE FROM threads WHERE id = '" + thread_.str() + "'");
  EXPECT_EQ(runs_.find(turn.run.id), std::nullopt);
}

}  // namespace
}  // namespace threadstore::test
