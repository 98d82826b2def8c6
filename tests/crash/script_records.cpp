// Steps on what hangs on threads, on jobs and traces, and on the files of the store.
#include "tests/crash/store_script.h"
#include "threadstore/maintenance.h"

namespace threadstore::test {
namespace {

using W = ScriptWorld;

}  // namespace

std::vector<ScriptStep> record_steps() {
  return {
      {"save a checkpoint",
       [](W& w) {
         w.store().checkpoints().save(
             w.thread(), {.id = CheckpointId(w.number() % 2 == 0 ? "latest" : w.word("point")),
                          .state = "{\"s\":\"" + w.text("state") + "\"}"});
       }},
      {"remove a checkpoint",
       [](W& w) { w.store().checkpoints().remove(w.thread(), CheckpointId("latest")); }},
      {"replace tools",
       [](W& w) {
         w.store().tools().replace(w.thread(),
                                   {{.name = w.word("tool")}, {.name = w.word("tool")}});
       }},
      {"set a goal",
       [](W& w) {
         w.store().goals().set(w.thread(),
                               {.objective = w.word("objective"), .token_budget = 1'000'000});
       }},
      {"count usage",
       [](W& w) {
         if (const auto thread = w.thread_with_goal()) {
           w.store().goals().record_usage(*thread, {.tokens = 7, .seconds = 3});
         }
       }},
      {"count a pass",
       [](W& w) {
         if (const auto thread = w.thread_with_goal()) {
           w.store().goals().record_continuation(*thread);
         }
       }},
      {"remove a goal", [](W& w) { w.store().goals().remove(w.thread()); }},
      {"save a job",
       [](W& w) { w.jobs.push_back(w.store().jobs().save({.name = w.word("job")}).id); }},
      {"claim a job",
       [](W& w) {
         if (auto claimed = w.store().jobs().claim("worker")) {
           w.leases.push_back(std::move(claimed->lease));
         }
       }},
      {"update a job",
       [](W& w) {
         if (!w.jobs.empty()) w.store().jobs().update(w.pick(w.jobs), {.detail = w.word("detail")});
       }},
      {"start a workflow",
       [](W& w) {
         w.store().workflows().start(WorkflowRun{.id = WorkflowRunId(w.word("workflow")),
                                                 .workflow_id = "flow",
                                                 .goal = w.word("goal")});
       }},
      {"finish a workflow",
       [](W& w) {
         const auto running = w.store().workflows().list({.status = TraceStatus::running}).items;
         if (!running.empty()) w.store().workflows().finish(w.pick(running).id);
       }},
  };
}

std::vector<ScriptStep> run_steps() {
  return {
      {"create a run",
       [](W& w) {
         w.runs.push_back(w.store()
                              .runs("/w")
                              .create({.agent_name = "coder",
                                       .agent_version = "1",
                                       .model = "m",
                                       .input = w.text("task"),
                                       .thread_id = w.thread()})
                              .id);
       }},
      {"append an event",
       [](W& w) {
         if (const auto run = w.active_run()) w.store().runs("/w").log().append(*run, "note.x");
       }},
      {"request a call",
       [](W& w) {
         if (const auto run = w.active_run()) {
           w.store().runs("/w").calls().request(*run,
                                                {.id = CallId(w.word("call")), .tool_name = "sh"});
         }
       }},
      {"save a run's checkpoint",
       [](W& w) {
         if (const auto run = w.active_run()) w.store().runs("/w").checkpoints().save(*run, {});
       }},
      {"finish a run",
       [](W& w) {
         if (const auto run = w.active_run()) {
           w.store().runs("/w").finish(*run, RunEnd::failed("x"));
         }
       }},
      {"begin a turn",
       [](W& w) {
         w.store().runs("/w").turns().begin(
             {.thread = w.thread(),
              .message = w.message(),
              .run = {.agent_name = "a", .agent_version = "1", .model = "m"}});
       }},
  };
}

std::vector<ScriptStep> upkeep_steps() {
  return {
      {"compact the index", [](W& w) { w.store().index()->compact(); }},
      {"rebuild the index", [](W& w) { w.store().rebuild_index(); }},
      {"search", [](W& w) { w.store().search().find({.text = "message"}); }},
      {"close and open", [](W& w) { w.reopen(); }},
      {"back up",
       [](W& w) { w.store().backup(w.database().parent_path() / (w.word("copy") + ".db")); }},
      {"back up and restore",
       [](W& w) {
         const auto copy = w.database().parent_path() / (w.word("copy") + ".db");
         w.store().backup(copy);
         w.close();
         restore(copy, w.database(), {.clock = w.clock.clock()});
         w.reopen();
       }},
  };
}

}  // namespace threadstore::test
