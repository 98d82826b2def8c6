#include "tests/state/maintenance/full_store.h"

#include <string>

#include "tests/state/threads/other_program.h"
#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {
namespace {

std::string number(int i) { return std::to_string(i); }

void add_threads(const StateStore& store) {
  for (int i = 0; i < 60; ++i) {
    const ThreadId thread("thread" + number(i));
    store.threads().create(
        {.id = thread, .name = "name " + number(i), .cwd = "/w/" + std::string(150, 'd')});
    if (i % 6 == 0) {
      store.goals().set(thread, {.objective = "ship " + std::string(600, 'o') + number(i)});
      store.tools().replace(thread, {{.name = "tool" + number(i)}, {.name = "other"}});
    }
    if (i % 3 == 0) {
      store.checkpoints().save(thread, {.id = CheckpointId("point"),
                                        .state = "{\"s\":\"" + std::string(700, 's') + "\"}"});
    }
  }
}

/// Most of them short, some on one further page and some on several.
void add_messages(const StateStore& store) {
  for (int i = 0; i < 5; ++i) {
    const ThreadId thread("thread" + number(i));
    for (int n = 0; n < 60; ++n) {
      const std::size_t size = n % 20 == 7 ? 6'000 : n % 20 == 13 ? 17'000 : 160;
      store.messages().append(
          thread,
          {.role = n % 2 == 0 ? "user" : "assistant",
           .content = "message " + number(n) + std::string(size, 'm'),
           .item =
               n % 5 == 0 ? std::optional(std::string("{\"n\":") + number(n) + '}') : std::nullopt},
          n % 4 == 0 ? AppendOptions{.key = "key" + number(n)} : AppendOptions{});
    }
    if (i < 4) store.threads().fork({.source = thread, .name = "fork " + number(i)});
  }
}

void add_run(const StateStore& store, int i) {
  Runs runs = store.runs("/w");
  const RunId run = runs.create({.agent_name = "coder",
                                 .agent_version = "1",
                                 .model = "m",
                                 .input = "task " + std::string(500, 't'),
                                 .thread_id = ThreadId("thread" + number(i))})
                        .id;
  runs.calls().request(run, {.id = CallId("call"), .tool_name = "sh"});
  runs.calls().request_approval(run, CallId("call"), {Capability::network});
  runs.calls().decide(run, CallId("call"), {ApprovalDecision::granted, "me", "fine"});
  runs.calls().start(run, CallId("call"));
  runs.calls().finish(run, CallId("call"), CallOutcome::completed("null"));
  runs.checkpoints().save(run, {.state = "[\"" + std::string(900, 's') + "\"]"});
  runs.artifacts().record(run, {.relative_path = "a/b", .sha256 = std::string(64, 'a'), .size = 3});
  runs.steps().commit(run, {.step = 1, .decision = "d", .result = std::string(300, 'r')});
  runs.tree().spawn({.parent = run, .step = 2, .ordinal = 0, .goal = "part"});
  runs.projections().rebuild_working_state(run);
  runs.finish(run, RunEnd::needs_user_input(RunReason::information_required, "which?"));
}

/// Numbers from 1 to `count` as i.
std::string times(int count, const std::string& insert) {
  return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
         number(count) + ") " + insert + " FROM n";
}

/// As the other program writes them; several pages each. The first two tables have the same form.
void add_workflows(OtherProgram& other) {
  other.run(times(70,
                  "INSERT INTO workflow_runs SELECT 'w' || i, 'flow', 'goal ' || "
                  "hex(zeroblob(60)), 'running', 'hash', 1000 + i, NULL, '{}'"));
  other.run(times(70,
                  "INSERT INTO branch_runs SELECT 'b' || i, 'w' || i, 'branch', "
                  "hex(zeroblob(60)), 'running', 1000 + i, NULL, '{}'"));
  other.run(times(60,
                  "INSERT INTO leaf_runs SELECT 'l' || i, 'w' || i, 'b' || i, 'leaf', 'task', "
                  "NULL, 'running', '{\"o\":\"' || hex(zeroblob(70)) || '\"}', '[]', 1, NULL"));
  other.run(times(40,
                  "INSERT INTO control_node_runs SELECT 'c' || i, 'w' || i, 'node', 'kind', "
                  "'running', '[]', '{\"r\":\"' || hex(zeroblob(70)) || '\"}', 1, NULL"));
  other.run(times(40,
                  "INSERT INTO teacher_candidates SELECT 't' || i, 'w' || i, 'c' || i, 'cand', "
                  "'b' || i, 0.5, 1, '{\"y\":\"' || hex(zeroblob(70)) || '\"}', 1"));
  // Without its job a claim stays, as after another program's REPLACE.
  other.run(times(40, "INSERT INTO job_claims (job_id, attempts) SELECT 'gone' || i, i"));
  other.run("INSERT INTO thread_removals VALUES ('thread50', 'clear', 0)");
}

}  // namespace

void make_full_store(const std::filesystem::path& file) {
  const TempDir made;
  const StateStore store = StateStore::open(made / "state.db");
  add_threads(store);
  add_messages(store);
  for (int i = 0; i < 12; ++i) add_run(store, i);
  for (int i = 0; i < 30; ++i) {
    store.jobs().save({.id = JobId("job" + number(i)), .name = std::string(200, 'j')});
    if (i % 3 == 0) store.jobs().claim("worker");
  }
  OtherProgram other(made / "state.db");
  add_workflows(other);
  store.messages().clear(ThreadId("thread4"));  // its pages are free now
  store.backup(file);
}

}  // namespace threadstore::test
