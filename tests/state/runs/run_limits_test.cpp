// The edges of what fits: bytes, counters, deadlines. What lies beyond is refused with nothing
// written.
#include <limits>

#include "tests/state/db/sqlite_connection.h"
#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr auto kBad = ErrorCode::invalid_argument;

/// A JSON text of so many bytes.
std::string json_of(std::size_t bytes) {
  std::string text(bytes, 'x');
  text.front() = text.back() = '"';
  return text;
}

class RunLimitsTest : public RunFileFixture {
 protected:
  void change(const std::string& statement) const {
    sql(open_sqlite(file_).get(), statement + " WHERE id = '" + run_.str() + "'");
  }
  /// Fits with so many bytes, and with one more changes nothing.
  void ends_at(std::size_t bytes, const std::function<void(std::size_t)>& operation) {
    const std::int64_t before = runs_.get(run_).last_sequence;
    EXPECT_EQ(error_of([&] { operation(bytes + 1); }), kBad);
    EXPECT_EQ(runs_.get(run_).last_sequence, before);
    EXPECT_EQ(error_of([&] { operation(bytes); }), std::nullopt);
  }
  Run ask() {
    return runs_.finish(run_, RunEnd::needs_user_input(RunReason::decision_required, "?"));
  }
  Continuation answer(const Run& waiting, const std::string& words = "go") const {
    return {.expected_sequence = waiting.last_sequence,
            .suspension_sequence = waiting.last_sequence,
            .input = words};
  }

  const RunId run_ = start().id;
};

TEST_F(RunLimitsTest, EveryLimitHasItsOwnPhrase) {
  const std::vector<std::pair<RunReason, std::string>> phrases{
      {RunReason::model_turns, "the limit of model turns was reached"},
      {RunReason::duration, "the time limit was reached"},
      {RunReason::total_tokens, "the token budget was used up"},
      {RunReason::token_usage_unavailable,
       "the model did not report its token usage, which the token budget needs"},
      {RunReason::tool_calls, "the limit of tool calls was reached"},
      {RunReason::tool_calls_per_turn, "one response asked for too many tool calls"},
      {RunReason::checkpoint_size, "the checkpoint is too large"},
      {RunReason::output_size, "the output is too large"},
      {RunReason::context_bytes, "the context is too large"}};
  std::size_t limits = 0;
  for (const auto& entry : EnumNames<RunReason>::table) {
    limits += outcome_of(entry.first) == RunOutcome::limit_exceeded;
  }
  EXPECT_EQ(phrases.size(), limits);
  for (const auto& [reason, phrase] : phrases) {
    const Run stopped = runs_.finish(start().id, RunEnd::limit_exceeded(reason));
    EXPECT_EQ(stopped.error, phrase);
    EXPECT_EQ(stopped.reason_code, reason);
    EXPECT_EQ(stopped.reason_detail, "{}");
    EXPECT_EQ(stopped.output, std::nullopt);
    EXPECT_EQ(newest_payload(stopped.id)["error"], phrase);
  }
}

TEST_F(RunLimitsTest, QuestionsAnswersAndDetailsEndAt8192Bytes) {
  const auto words = [](std::size_t bytes) { return std::string(bytes, 'q'); };
  const auto finish = [&](const RunEnd& end) { runs_.finish(start().id, end); };
  ends_at(8192, [&](std::size_t bytes) {
    finish(RunEnd::blocked(RunReason::policy_restriction, words(bytes)));
  });
  ends_at(8192, [&](std::size_t bytes) {
    finish(RunEnd::needs_user_input(RunReason::information_required, words(bytes)));
  });
  ends_at(8192, [&](std::size_t bytes) {
    finish(RunEnd::failed("x", RunReason::tool_error, R"({"a":")" + words(bytes - 8) + R"("})"));
  });
  // The bound is on the text alone: whatever its JSON needs comes on top.
  finish(RunEnd::blocked(RunReason::policy_restriction, std::string(8192, '"')));
  ends_at(8192, [&](std::size_t bytes) {
    const Run waiting =
        runs_.finish(start().id, RunEnd::needs_user_input(RunReason::decision_required, "?"));
    runs_.continue_suspended(waiting.id, answer(waiting, words(bytes)));
  });
  const Run waiting = ask();
  ends_at(8192, [&](std::size_t bytes) { runs_.abandon(waiting.id, words(bytes)); });
}

TEST_F(RunLimitsTest, CodesEndAt64BytesAndMessagesAt4096) {
  int number = 0;
  const auto fail = [&](const std::string& code, const std::string& message) {
    const CallId call = started_call(run_, std::to_string(number++));
    const std::int64_t before = runs_.get(run_).last_sequence;
    const auto error =
        error_of([&] { runs_.calls().finish(run_, call, CallOutcome::terminal(code, message)); });
    EXPECT_EQ(runs_.get(run_).last_sequence, error ? before : before + 1);
    return error;
  };
  EXPECT_EQ(fail("a" + std::string(63, '_'), "m"), std::nullopt);
  EXPECT_EQ(fail("a" + std::string(64, '_'), "m"), kBad);
  EXPECT_EQ(fail("a", std::string(4096, 'm')), std::nullopt);
  EXPECT_EQ(fail("a", std::string(4097, 'm')), kBad);
  EXPECT_EQ(fail("a", ""), kBad);
}

TEST_F(RunLimitsTest, ContentsEndAt16MiBWhereverTheyStand) {
  constexpr std::size_t most = default_run_content_limit;
  int number = 0;
  const auto next = [&] { return std::to_string(number++); };
  const auto object = [](std::size_t bytes) { return R"({"a":)" + json_of(bytes - 6) + "}"; };
  ends_at(most, [&](std::size_t n) { runs_.log().append(run_, "note.x", json_of(n)); });
  ends_at(most, [&](std::size_t n) { runs_.accounts().request_model(run_, json_of(n)); });
  ends_at(most,
          [&](std::size_t n) { runs_.accounts().record_response(run_, std::nullopt, json_of(n)); });
  ends_at(most, [&](std::size_t n) {
    runs_.calls().request(run_, {CallId(next()), "sh", object(n)});
  });
  const CallId call = started_call(run_, "result");
  ends_at(most, [&](std::size_t n) {
    runs_.calls().finish(run_, call, CallOutcome::completed(json_of(n)));
  });
  const CallId soft = started_call(run_, "observation");
  ends_at(most, [&](std::size_t n) {
    runs_.calls().finish(run_, soft, CallOutcome::recoverable("x", "m", json_of(n), "t", "k"));
  });
  ends_at(most, [&](std::size_t n) { runs_.checkpoints().save(run_, {.state = json_of(n)}); });
  ends_at(most, [&](std::size_t n) {
    runs_.steps().record(run_, {.step = 1, .prompt = std::string(n, 'p')});
  });
  ends_at(most, [&](std::size_t n) {
    runs_.requests().put(run_, {.act = "exec", .target = "x", .content = std::string(n, 'c')});
  });
  ends_at(most,
          [&](std::size_t n) { runs_.finish(start().id, RunEnd::completed(std::string(n, 'o'))); });
  const Run waiting = ask();
  ends_at(most, [&](std::size_t n) {
    Continuation go = answer(waiting);
    go.checkpoint = NewRunCheckpoint{.state = json_of(n)};
    runs_.continue_suspended(run_, go);
  });
}

TEST_F(RunLimitsTest, TheLimitOfContentsIsTheStores) {
  StateStore store = StateStore::in_memory({.run_content_limit = 100});
  Runs runs = store.runs("w");
  const RunId run = runs.create({.agent_name = "a", .agent_version = "1", .model = "m"}).id;
  const std::string content = json_of(100);
  runs.log().append(run, "note.x", content);
  runs.checkpoints().save(run, {.state = content});
  runs.accounts().request_model(run, content);
  try {
    runs.log().append(run, "note.x", json_of(101));
    FAIL() << "101 bytes were taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kBad);
    EXPECT_STREQ(error.what(), "the payload has 101 bytes; at most 100 are allowed");
  }
  EXPECT_EQ(error_of([&] { runs.checkpoints().save(run, {.state = json_of(101)}); }), kBad);
  EXPECT_EQ(error_of([&] { runs.finish(run, RunEnd::completed(std::string(101, 'o'))); }), kBad);
  runs.finish(run, RunEnd::completed(std::string(100, 'o')));
}

TEST_F(RunLimitsTest, ALimitThatCannotBeKeptIsRefusedAtTheOpen) {
  EXPECT_EQ(error_of([] { StateStore::in_memory({.run_content_limit = 0}); }), kBad);
  EXPECT_EQ(error_of([] { StateStore::in_memory({.run_content_limit = 134'217'729}); }), kBad);
  StateStore::in_memory({.run_content_limit = 134'217'728});
}

TEST_F(RunLimitsTest, AnOutputIsStoredOnce) {
  const Run done = runs_.finish(run_, RunEnd::completed("a needle in the output"));
  EXPECT_EQ(newest_payload(run_)["output_bytes"], 22);
  EXPECT_THAT(runs_.log().list(run_, 1).at(0).payload, testing::Not(HasSubstr("needle")));
  EXPECT_EQ(runs_.get(run_).output, "a needle in the output");
}

TEST_F(RunLimitsTest, TenCheckpointsStayUnlessMoreAreAskedFor) {
  for (int turn = 0; turn < 15; ++turn) runs_.checkpoints().save(run_, {.turn = turn});
  const auto kept = runs_.checkpoints().list(run_);
  ASSERT_EQ(kept.size(), 10U);
  EXPECT_EQ(kept.front().turn, 14);
  EXPECT_EQ(kept.back().turn, 5);
  // A continuation saves one of them too.
  const Run waiting = ask();
  Continuation go = answer(waiting);
  go.checkpoint = NewRunCheckpoint{.turn = 15};
  runs_.continue_suspended(run_, go);
  EXPECT_EQ(runs_.checkpoints().list(run_).size(), 10U);
  EXPECT_EQ(runs_.checkpoints().latest(run_)->turn, 15);
}

TEST_F(RunLimitsTest, ContextBytesAreTheExecutorsBusinessAndTheBudgetIsOnRecord) {
  EXPECT_FALSE(payload(run_, 1)["budgets"].contains("max_context_bytes"));
  const RunId run = start({.max_context_bytes = 1000}).id;
  EXPECT_EQ(payload(run, 1)["budgets"]["max_context_bytes"], 1000);
  EXPECT_EQ(error_of([&] { start({.max_context_bytes = 0}); }), kBad);
  runs_.checkpoints().save(run, {});
  EXPECT_TRUE(runs_.accounts().request_model(run).allowed());
  const Run stopped = runs_.finish(run, RunEnd::limit_exceeded(RunReason::context_bytes));
  EXPECT_EQ(error_of([&] { runs_.reopen(run, stopped.last_sequence); }), ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { runs_.accounts().raise(run, {.max_context_bytes = 999}); }),
            ErrorCode::conflict);
  const Run raised = runs_.accounts().raise(run, {.max_context_bytes = 2000});
  EXPECT_EQ(newest_payload(run)["from"]["max_context_bytes"], 1000);
  EXPECT_EQ(newest_payload(run)["to"]["max_context_bytes"], 2000);
  EXPECT_EQ(runs_.reopen(run, raised.last_sequence).budgets.max_context_bytes, 2000);
}

TEST_F(RunLimitsTest, WaitsAddUpAndEndAt63Bits) {
  const Run first = ask();
  now_ += 100;
  EXPECT_EQ(runs_.continue_suspended(run_, answer(first)).suspended_ms, 100);
  const Run second = ask();
  now_ += 50;
  EXPECT_EQ(runs_.continue_suspended(run_, answer(second)).suspended_ms, 150);
  EXPECT_EQ(newest_payload(run_)["suspended_ms"], 150);
  EXPECT_EQ(runs_.suspensions(run_).size(), 2U);

  const Run third = ask();
  change("UPDATE runs SET suspended_ms = " + std::to_string(kHighest - 9));
  now_ += 10;
  const Run before = runs_.get(run_);
  EXPECT_EQ(error_of([&] { runs_.continue_suspended(run_, answer(third)); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run_), before);
  EXPECT_EQ(runs_.latest_suspension(run_)->continued_at, std::nullopt);
  now_ -= 1;
  EXPECT_EQ(runs_.continue_suspended(run_, answer(third)).suspended_ms, kHighest);
}

TEST_F(RunLimitsTest, CountersBeyond53BitsKeepEveryDigit) {
  constexpr std::int64_t odd = 9'007'199'254'740'993;  // 2^53 + 1 is no double
  runs_.accounts().record_response(run_, TokenUsage{odd, 0, odd});
  EXPECT_EQ(runs_.get(run_).usage.total_tokens, odd);
  EXPECT_THAT(*runs_.projections().working_state(run_).snapshot,
              HasSubstr(R"("total_tokens":9007199254740993)"));
  EXPECT_THAT(runs_.log().list(run_, 1).at(0).payload, HasSubstr("9007199254740993"));
  runs_.accounts().record_response(run_, TokenUsage{kHighest - odd, 0, kHighest - odd});
  EXPECT_EQ(runs_.get(run_).usage.total_tokens, kHighest);
  expect_sound(run_);
}

TEST_F(RunLimitsTest, EveryCounterThatIsFullStopsItsOperation) {
  const auto stops = [&](const std::string& column, const std::function<void()>& operation) {
    change("UPDATE runs SET " + column + " = 9223372036854775807");
    const Run before = runs_.get(run_);
    EXPECT_EQ(error_of(operation), ErrorCode::conflict) << column;
    EXPECT_EQ(runs_.get(run_), before) << column;
    change("UPDATE runs SET " + column + " = 0");
  };
  const auto respond = [&] { runs_.accounts().record_response(run_, TokenUsage{1, 1, 1}); };
  runs_.calls().request(run_, {CallId("c"), "sh"});
  stops("model_turns", [&] { runs_.accounts().request_model(run_); });
  stops("input_tokens", respond);
  stops("output_tokens", respond);
  stops("total_tokens", respond);
  stops("responses_with_usage", respond);
  stops("responses_without_usage", [&] { runs_.accounts().record_response(run_, std::nullopt); });
  stops("tool_calls", [&] { runs_.calls().start(run_, CallId("c")); });
  EXPECT_EQ(runs_.calls().get(run_, CallId("c")).status, CallStatus::requested);
}

TEST_F(RunLimitsTest, ARepetitionIsCountedBeforeItIsCommitted) {
  const auto fail = [&](const std::string& call) {
    return runs_.calls()
        .finish(run_, started_call(run_, call), CallOutcome::recoverable("x", "m", "1", "t", "k"))
        .consecutive_count;
  };
  EXPECT_EQ(fail("1"), 1);
  const auto last_count = [&](std::int64_t count) {
    sql(open_sqlite(file_).get(), "UPDATE run_calls SET consecutive_count = " +
                                      std::to_string(count) + " WHERE call_id = '1'");
  };
  last_count(4'294'967'295);
  EXPECT_EQ(fail("2"), 4'294'967'296);
  EXPECT_EQ(newest_payload(run_)["consecutive_count"], 4'294'967'296);
  // A count that cannot be said leaves the call as it is.
  sql(open_sqlite(file_).get(), "UPDATE run_calls SET consecutive_count = 9223372036854775807");
  const CallId third = started_call(run_, "3");
  const Run before = runs_.get(run_);
  const auto full = CallOutcome::recoverable("x", "m", "1", "t", "k");
  EXPECT_EQ(error_of([&] { runs_.calls().finish(run_, third, full); }), ErrorCode::conflict);
  EXPECT_EQ(runs_.get(run_), before);
  EXPECT_EQ(runs_.calls().get(run_, third).status, CallStatus::started);
}

}  // namespace
}  // namespace threadstore::test
