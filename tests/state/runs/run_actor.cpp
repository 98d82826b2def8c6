// What another process does with a run:
//   run_actor FILE RUN append N         "ready", waits for a line, appends N events
//   run_actor FILE RUN call             takes the lease, starts a call, says "started", waits
//   run_actor FILE RUN ask              takes the lease, asks for an approval, says "asked", waits
//   run_actor FILE RUN wait             the same, and suspends the run for it, says "waits", waits
//   run_actor FILE RUN decide CALL WHO  "ready", waits for a line, says "won" or who decided
//   run_actor FILE RUN request CALL     "ready", waits for a line, says "asked" or "late"
//   run_actor FILE RUN answer KIND      takes the lease and says what it finds: "suspended
//                                       effect_unknown"; answers for the call, says "active"
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

enum class Doing { call, ask, wait };

void hold_and(Doing doing, Runs runs, const RunId& run) {
  const HeldRun held = runs.acquire(run, "actor");
  runs = runs.holding(run, held.lease.token());
  runs.calls().request(run, {.id = CallId("c"), .tool_name = "sh"});
  if (doing == Doing::call) {
    runs.calls().start(run, CallId("c"));
  } else {
    runs.calls().request_approval(run, CallId("c"), {Capability::process_execute});
  }
  if (doing == Doing::wait) {
    runs.finish(run, RunEnd::needs_user_input(RunReason::approval_required, "May I?"));
  }
  say(doing == Doing::call ? "started" : doing == Doing::ask ? "asked" : "waits");
  wait_for_line();
}

void request_approval(Runs runs, const RunId& run, const std::string& call) {
  try {
    runs.calls().request_approval(run, CallId(call), {Capability::network});
    say("asked");
  } catch (const Error& error) {
    say(error.code() == ErrorCode::conflict ? "late" : error.what());
  }
}

void answer(Runs runs, const RunId& run, const std::string& kind) {
  const HeldRun found = runs.acquire(run, "rescuer");
  const auto reason = found.run.reason_code;
  say(std::string(to_word(found.run.lifecycle)) + ' ' +
      std::string(reason ? to_word(*reason) : "without a reason"));
  const Run answered = runs.holding(run, found.lease.token())
                           .answer_effect(run, {.call = CallId("c"),
                                                .kind = *from_word<EffectAnswer::Kind>(kind),
                                                .observation = "[1]",
                                                .answered_by = "ann"});
  say(std::string(to_word(answered.lifecycle)));
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
  if (action == "call" || action == "ask" || action == "wait") {
    hold_and(action == "call"  ? Doing::call
             : action == "ask" ? Doing::ask
                               : Doing::wait,
             runs, run);
    return 0;
  }
  if (action == "answer") {
    answer(runs, run, arguments[4]);
    return 0;
  }
  say("ready");
  wait_for_line();
  if (action == "append") {
    for (int i = std::stoi(arguments[4]); i > 0; --i) runs.log().append(run, "note.x");
  } else if (action == "request") {
    request_approval(runs, run, arguments[4]);
  } else {
    decide(runs, run, arguments[4], arguments[5]);
  }
  return 0;
}
