// A harness that thinks in steps, as a process that can be killed.
//
// step_actor DATABASE harness RUN STEPS   takes the run's lease, resumes it, and drives it behind
// its
//                                         last committed step to the end; says "committed N" for
//                                         each step once it is durable, and "done"
// step_actor DATABASE decide NAME         "ready"; for each line, a request's number, says "won" or
//                                         who decided it before; ends with its input
#include <iostream>
#include <string>

#include "threadstore/error.h"
#include "threadstore/state_store.h"

namespace {

using namespace threadstore;

void say(const std::string& line) { std::cout << line << std::endl; }

/// Every fiftieth step hands a part to another run. A part that an earlier life spawned is adopted,
/// and what it did is not done again.
void spawn_part(Runs& runs, const RunId& run, std::int64_t step) {
  if (step % 50 != 0) return;
  RunTrace trace = runs.trace();
  const RunId child =
      trace.spawn_child({.parent = run, .step = step, .goal = "part " + std::to_string(step)})
          .child.id;
  if (trace.last_committed_step(child) == 0) {
    trace.checkpoint_step(child, {.step = 1, .tokens = 1000});
  }
  if (trace.status(child) == RunStatus::running) trace.finish_run(child, "success");
}

void drive(Runs runs, const RunId& run, std::int64_t steps) {
  const HeldRun held = runs.acquire(run, "harness");
  runs = runs.holding(run, held.lease.token());
  RunTrace trace = runs.trace();
  const ResumePoint point = trace.resume(run);
  for (std::int64_t step = point.from_step; step <= steps; ++step) {
    spawn_part(runs, run, step);
    trace.checkpoint_step(run, {.step = step,
                                .decision = "step " + std::to_string(step),
                                .prompt = std::string(200, 'p'),
                                .tokens = 1 + step % 7});
    say("committed " + std::to_string(step));
  }
  trace.finish_run(run, "success");
  say("done");
}

void decide(const Runs& runs, const std::string& name) {
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    const Resolution resolution =
        runs.trace().resolve_pending(static_cast<RequestId>(std::stoll(line)),
                                     {.decision = ApprovalDecision::granted, .decided_by = name});
    say(resolution.won ? "won" : resolution.request.decided_by.value_or("nobody"));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  try {
    const auto store = StateStore::open(arguments[1], {.deadline = std::chrono::seconds(60)});
    const std::string action = arguments[2];
    if (action == "harness" && count == 5) {
      drive(store.runs("/work"), RunId(arguments[3]), std::stoll(arguments[4]));
    } else {
      decide(store.runs("/work"), arguments[3]);
    }
  } catch (const Error& error) {
    say(std::string("error ") + error.what());
    return 3;
  }
  return 0;
}
