#include "cli/chat/turn_record.h"

#include "cli/chat/session.h"
#include "cli/output/json.h"
#include "cli/resolve/run_ref.h"
#include "cli/terminal/text.h"
#include "threadstore/version.h"

namespace threadstore::cli {
namespace {

/// The whole answer is the reply's message: the run keeps the beginning of a long one.
constexpr std::size_t kMostOutput = 65'536;

const CallId kCall("exec");

std::string output_of(const Reply& reply) {
  return std::string(cut_at_code_point(reply.text, kMostOutput));
}

CallOutcome outcome_of(const Reply& reply) {
  if (reply.exit_status) {
    return CallOutcome::failed((reply.interrupted ? "interrupted, exit status " : "exit status ") +
                               std::to_string(*reply.exit_status));
  }
  return CallOutcome::completed(R"({"exit_status":0,"bytes":)" + std::to_string(reply.text.size()) +
                                "}");
}

RunEnd end_of(const Reply& reply) {
  if (reply.interrupted) return RunEnd::cancelled();
  if (!reply.exit_status) return RunEnd::completed(output_of(reply));
  const std::string status = std::to_string(*reply.exit_status);
  return RunEnd::failed("exit status " + status, RunReason::tool_error,
                        R"({"exit_status":)" + status + "}");
}

}  // namespace

TurnRecord::~TurnRecord() {
  if (!held_ || finished_) return;
  try {
    runs_->finish(held_->run.id, RunEnd::failed("the chat ended before the answer did"));
  } catch (const std::exception&) {
    // It shows as interrupted, which it is.
  }
}

void TurnRecord::begin(const ThreadId& thread, MessageId trigger, const std::string& words) {
  const Thread found = store_.threads().get(thread);
  Runs runs = runs_of_thread(dialogue_.call(), store_, found);
  store_.transaction([&] {
    held_.emplace(hold(runs, thread, trigger, words));
    runs_ = runs.holding(held_->run.id, held_->lease.token());
    if (command_.empty()) return;
    if (!runs_->calls().find(held_->run.id, kCall)) {
      runs_->calls().request(held_->run.id,
                             {.id = kCall, .tool_name = "sh", .arguments = arguments()});
    }
    runs_->calls().start(held_->run.id, kCall);
  });
}

std::string TurnRecord::arguments() const { return nlohmann::json{{"command", command_}}.dump(); }

// Goes on with a run whose chat died in the middle of the command. Nothing when that was another
// command: what it did nobody knows, and this one must not be taken for it.
std::optional<HeldRun> TurnRecord::go_on_with(Runs& runs, const RunId& run) const {
  const auto call = runs.calls().find(run, kCall);
  const bool same = call ? call->arguments == arguments() : command_.empty();
  HeldRun held = runs.acquire(run, chat_program);
  if (held.run.reason_code == RunReason::effect_unknown) {
    runs.answer_effect(run, {.call = kCall,
                             .kind = same ? EffectAnswer::Kind::retry : EffectAnswer::Kind::abort,
                             .answered_by = chat_program});
  } else if (!same) {
    runs.finish(run, RunEnd::cancelled());
  }
  if (!same) return std::nullopt;
  return held;
}

HeldRun TurnRecord::hold(Runs runs, const ThreadId& thread, MessageId trigger,
                         const std::string& words) {
  const auto before = runs.turns().find(thread, trigger);
  if (before && before->interrupted) {
    if (auto held = go_on_with(runs, before->id)) return *std::move(held);
  }
  return runs.turns().begin_for(thread, trigger,
                                {.agent_name = chat_program,
                                 .agent_version = std::string(version()),
                                 .model = command_.empty() ? "echo" : "exec",
                                 .input = words},
                                chat_program);
}

void TurnRecord::finish(const Reply& reply, std::optional<MessageId> stored) {
  if (!held_) return;
  const RunId run = held_->run.id;
  store_.transaction([&] {
    if (!command_.empty()) runs_->calls().finish(run, kCall, outcome_of(reply));
    runs_->turns().finish_with(run, end_of(reply), stored);
  });
  finished_ = true;
}

}  // namespace threadstore::cli
