#include "tests/exchange/random_store.h"

namespace threadstore::test {
namespace {

// JSON whose bytes would change if somebody read and wrote it.
const std::vector<std::string> kItems{
    "null",     "1.0",  "-0",     R"({"b":1,"a":[1e5,"é\u0000"],"b":2})",
    "[1,\n 2]", " {} ", R"("x")", "12345678901234567890"};

}  // namespace

void RandomStore::fill() {
  for (int number = 0; number < 5; ++number) {
    const bool fork = !threads_.empty() && chance(2);
    const ThreadId thread = fork ? make_fork(number) : make_thread(number);
    threads_.push_back(thread);
    add_messages(thread);
    add_records(thread);
    set_back(thread);
    if (chance(3)) store_.threads().archive(thread);
  }
  if (chance(3)) {  // its forks keep what they inherited
    const auto gone = threads_.begin() + static_cast<std::ptrdiff_t>(random_() % threads_.size());
    store_.threads().remove(*gone);
    threads_.erase(gone);
  }
}

ThreadId RandomStore::make_thread(int number) {
  return store_.threads()
      .create({.id = ThreadId("t" + std::to_string(number)),
               .name = maybe("n\n" + std::to_string(number)),
               .cwd = "/home/ada/demo",
               .preview = "p",
               .model_provider = "m",
               .cli_version = "1.2",
               .source = SessionSource::api,
               .ephemeral = chance(4),
               .rollout_path = maybe("/r"),
               .path = maybe("/p"),
               .sandbox_policy = maybe("{}"),
               .approval_mode = maybe("never"),
               .git_sha = maybe("abc"),
               .git_branch = maybe("main"),
               .git_origin_url = maybe("https://x/y"),
               .memory_mode = maybe("on")})
      .thread.id;
}

ThreadId RandomStore::make_fork(int number) {
  const ThreadId source = one_of(threads_);
  ForkRequest request{
      .source = source, .name = maybe("fork"), .id = ThreadId("f" + std::to_string(number))};
  const auto shown = store_.messages().tree(source);
  if (!shown.empty() && chance(2)) request.at = one_of(shown).id;
  return store_.threads().fork(request).thread.id;
}

void RandomStore::add_messages(const ThreadId& thread) {
  const auto count = random_() % 12;
  for (unsigned number = 0; number < count; ++number) {
    clock_.advance_seconds(static_cast<std::int64_t>(random_() % 3));
    const auto shown = store_.messages().tree(thread);
    NewMessage message{
        .role = one_of<std::string>({"user", "assistant", "tool", "critic"}),
        .content = std::string("text \0 \x1b é 数据 ", 18) + std::to_string(random_() % 3)};
    if (chance(2)) message.item = one_of(kItems);
    if (chance(8)) store_.messages().set_current_leaf(thread, {});  // the next is a root
    if (!shown.empty() && chance(3)) {
      store_.messages().branch_at(thread, one_of(shown).id, message);
    } else {
      store_.messages().append(thread, message, {.key = maybe("k" + std::to_string(number))});
    }
    if (chance(4)) add_checkpoint(thread);
  }
}

void RandomStore::add_checkpoint(const ThreadId& thread) {
  store_.checkpoints().save(thread, {.id = CheckpointId("c" + std::to_string(random_() % 3)),
                                     .state = one_of(kItems),
                                     .remember_leaf = chance(2)});
}

void RandomStore::add_records(const ThreadId& thread) {
  const auto shown = store_.messages().tree(thread);
  if (!shown.empty() && !chance(4)) {
    const auto runs = 1 + random_() % 2;
    for (unsigned number = 0; number < runs; ++number) add_run(thread, one_of(shown).id);
  }
  if (chance(2)) {
    store_.goals().set(thread, {.objective = "o", .token_budget = 100});
    store_.goals().record_usage(thread, {.tokens = 7, .seconds = 2});
  }
  if (chance(2)) {
    store_.tools().replace(thread, {{.position = 3, .name = "z", .input_schema = "[1.0]"},
                                    {.position = 5, .name = "a", .description = "d"}});
  }
}

void RandomStore::set_back(const ThreadId& thread) {
  const auto shown = store_.messages().tree(thread);
  if (chance(4)) {
    store_.messages().set_current_leaf(thread, {});
  } else if (!shown.empty() && chance(3)) {
    store_.messages().set_current_leaf(thread, one_of(shown).id);
  }
}

RunId RandomStore::add_run(const ThreadId& thread, MessageId trigger) {
  Runs runs = store_.runs("/srv/w" + std::to_string(random_() % 2));
  const NewRun wanted{.agent_name = "a",
                      .agent_version = "1",
                      .model = "m",
                      .input = "go",
                      .budgets = {.max_total_tokens = 1'000'000},
                      .provider = maybe("local"),
                      .file = maybe("out.txt")};
  const RunId run = runs.turns().begin_for(thread, trigger, wanted, "t").run.id;
  runs.accounts().request_model(run);
  runs.accounts().record_response(run, TokenUsage{3, 4, 7}, R"({ "x" : 1.0 })");
  const auto calls = random_() % 4;
  for (unsigned number = 0; number < calls; ++number) add_call(runs, run, static_cast<int>(number));
  runs.checkpoints().save(run, {.state = "[1,\n2]", .name = maybe("named")});
  runs.artifacts().record(run, {.relative_path = "a/b", .sha256 = std::string(64, 'a'), .size = 3});
  add_steps(runs, run);
  add_audit(runs, run);
  add_children(runs, run);
  add_requests(runs, run);
  clock_.advance_seconds(1);
  stop(runs, run);
  return run;
}

void RandomStore::add_call(Runs runs, const RunId& run, int number) {
  const CallId call("c" + std::to_string(number));
  runs.calls().request(run, {.id = call, .tool_name = "sh", .arguments = R"({"a":1.50})"});
  if (chance(2)) {
    runs.calls().request_approval(run, call, {Capability::network});
    const bool granted = chance(2);
    runs.calls().decide(
        run, call,
        {granted ? ApprovalDecision::granted : ApprovalDecision::denied, "me", maybe("why")});
    if (!granted) {
      runs.calls().finish(run, call, CallOutcome::denied("no"));
      return;
    }
  }
  runs.calls().start(run, call);
  clock_.advance_seconds(1);
  runs.calls().finish(
      run, call,
      one_of<CallOutcome>(
          {CallOutcome::completed("null"), CallOutcome::completed(R"({ "n" : 1e2 })"),
           CallOutcome::failed("broke"),
           CallOutcome::recoverable("bad_path", "no such file", "[1.0]", "shown", "same")}));
}

void RandomStore::add_steps(Runs runs, const RunId& run) {
  const auto steps = random_() % 3;
  for (unsigned step = 1; step <= steps; ++step) {
    const NewStep attempt{.step = step,
                          .decision = "d\n",
                          .result = "r",
                          .prompt = chance(2) ? "p" : "",
                          .tool_call = chance(2) ? R"({ "a" : 1.0 })" : "",
                          .tokens = static_cast<std::int64_t>(random_() % 50)};
    if (chance(2)) runs.steps().record(run, attempt);
    runs.steps().commit(run, attempt);
  }
  if (chance(4)) runs.steps().resume(run, "again");
}

void RandomStore::add_requests(Runs runs, const RunId& run) {
  const auto requests = random_() % 3;
  for (unsigned number = 0; number < requests; ++number) {
    const auto request = runs.requests().put(run, {.step = 1,
                                                   .act = "write",
                                                   .target = "a" + std::to_string(number),
                                                   .content = maybe("text\nmore"),
                                                   .key = maybe("k" + std::to_string(number))});
    if (chance(2)) {
      runs.requests().decide(request.request_id, {ApprovalDecision::granted, "ann", maybe("fine")});
    }
  }
}

void RandomStore::add_audit(Runs runs, const RunId& run) {
  if (chance(2)) {
    runs.audit().record(run, PolicyEvent::refused(1, "write", "key.txt", maybe("secrets/*")));
    runs.audit().record(run, PolicyEvent::decided(1, "exec", "make", "approve", "ann"));
  }
  if (chance(2)) runs.audit().record(run, SandboxEvent{.step = 1, .detail = "ls"});
  if (chance(2)) runs.audit().record(run, DelegationEvent::drawn(1, 10, 90));
}

void RandomStore::add_children(Runs runs, const RunId& run) {
  const auto children = random_() % 3;
  for (unsigned number = 0; number < children; ++number) {
    NewRun wanted{.agent_name = "b", .agent_version = "1", .model = "m2", .input = "part"};
    // A part of the work may be a conversation of its own.
    if (!threads_.empty() && chance(2)) wanted.thread_id = one_of(threads_);
    RunId child;
    if (chance(2)) {
      child = runs.tree()
                  .spawn({.parent = run,
                          .step = 1,
                          .ordinal = number,
                          .goal = "part",
                          .verify_file = "f",
                          .needle = "ok",
                          .max_steps = 5,
                          .deny_write = R"([ "x" ])",
                          .child = wanted})
                  .child.id;
    } else {
      child = runs.tree().start_child(run, wanted).id;
    }
    runs.accounts().request_model(child);
    runs.accounts().record_response(child, TokenUsage{1, 1, 2}, "{}");
    add_steps(runs, child);
    runs.finish(child, RunEnd::completed("part done"));
  }
}

void RandomStore::stop(Runs runs, const RunId& run) {
  const bool waits = !runs.requests().pending(run).empty();
  switch (random_() % 6) {
    case 0:
      return;  // at work
    case 1:
      runs.finish(run, RunEnd::failed("broke", RunReason::legacy_failure, R"({ "d" : 1.0 })"));
      return;
    case 2:
      runs.finish(run, RunEnd::from_word(waits ? "awaiting_approval" : "escalated"));
      return;
    case 3:
      runs.finish(run, RunEnd::cancelled());
      return;
    case 4: {
      runs.finish(run, RunEnd::needs_user_input(RunReason::information_required, "which?"));
      if (chance(2)) return;
      const auto suspension = runs.latest_suspension(run);
      runs.continue_suspended(run, {.expected_sequence = runs.get(run).last_sequence,
                                    .suspension_sequence = suspension->sequence,
                                    .input = "that one"});
      return;
    }
    default:
      runs.turns().finish(run, {.end = RunEnd::completed("done"),
                                .reply = {{.role = "assistant", .content = "the answer"}}});
  }
}

}  // namespace threadstore::test
