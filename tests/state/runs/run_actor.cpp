// run_actor FILE RUN append N         "ready", waits for a line, appends N events
// run_actor FILE RUN call             takes the lease, starts a call, says "started", waits for
// ever run_actor FILE RUN ask              takes the lease, asks for an approval, says "asked",
// waits run_actor FILE RUN decide CALL WHO  "ready", waits for a line, says "won" or who decided
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "threadstore/state_store.h"

namespace {

using namespace threadstore;

void say(const std::string& line) { std::cout << line << std::endl; }

void wait_for_line() {
  std::string line;
  std::getline(std::cin, line);
}

void hold_and_call(Runs runs, const RunId& run, bool ask) {
  const HeldRun held = runs.acquire(run, "actor");
  runs = runs.holding(run, held.lease.token());
  runs.calls().request(run, {.id = CallId("c"), .tool_name = "sh"});
  if (ask) {
    runs.calls().request_approval(run, CallId("c"), {Capability::process_execute});
  } else {
    runs.calls().start(run, CallId("c"));
  }
  say(ask ? "asked" : "started");
  wait_for_line();
}

void decide(Runs runs, const RunId& run, const std::string& call, const std::string& who) {
  try {
    runs.calls().decide(run, CallId(call),
                        {.decision = ApprovalDecision::granted, .decided_by = who});
    say("won");
  } catch (const Error& error) {
    say(error.details().value("decided_by", "nobody"));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const auto store = StateStore::open(arguments[1], {.deadline = std::chrono::seconds(60)});
  Runs runs = store.runs("/work");
  const RunId run(arguments[2]);
  const std::string action = arguments[3];
  if (action == "call" || action == "ask") {
    hold_and_call(runs, run, action == "ask");
    return 0;
  }
  say("ready");
  wait_for_line();
  if (action == "append") {
    for (int i = std::stoi(arguments[4]); i > 0; --i) runs.log().append(run, "note.x");
  } else {
    decide(runs, run, arguments[4], arguments[5]);
  }
  return 0;
}
