#include "state/transfer/run_check.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

class Check {
 public:
  explicit Check(const RunRecord& record) : record_(record) {}

  void all(const std::vector<RunEvent>& events) const {
    head();
    std::int64_t sequence = 0;
    for (const RunEvent& event : events) {
      require(event.sequence == ++sequence, "its events are not numbered 1, 2, 3 …");
      require(!event.event_type.empty(), "an event has no type");
      text(event.event_type);
      json(event.payload, "the payload of event " + std::to_string(sequence));
    }
    require(record_.run.last_sequence == sequence, "its last sequence is not that of its events");
    std::set<CallId> calls;
    for (const RunCall& call : record_.calls) {
      require(!call.call_id.empty() && calls.insert(call.call_id).second,
              "two calls have one id, or one has none");
      in_log(call.requested_sequence);
      text(call.tool_name);
      json(call.arguments, "the arguments of a call");
      if (call.result) json(*call.result, "the result of a call");
    }
    for (const RunApproval& approval : record_.approvals) {
      require(calls.contains(approval.call_id), "an approval is of no call");
      in_log(approval.requested_sequence);
    }
    for (const RunSuspension& suspension : record_.suspensions) {
      in_log(suspension.sequence);
      if (suspension.assistant_message) json(*suspension.assistant_message, "a message");
    }
    for (const RunCheckpoint& checkpoint : record_.checkpoints) {
      in_log(checkpoint.sequence);
      require(checkpoint.schema_version > 0 && checkpoint.turn >= 0, "a checkpoint has no version");
      json(checkpoint.state, "the state of a checkpoint");
    }
    for (const RunArtifact& artifact : record_.artifacts) in_log(artifact.sequence);
    steps();
    requests(events);
    for (const SpawnContract& contract : record_.spawned_for) {
      require(contract.step >= 0 && contract.ordinal >= 0, "it was spawned at no step");
      require(!contract.max_steps || *contract.max_steps >= 0, "it was spawned for too few steps");
      for (const auto* field : {&contract.goal, &contract.verify_file, &contract.needle}) {
        text(*field);
      }
      json(contract.deny_write, "deny_write of the spawn");
    }
  }

 private:
  void steps() const {
    std::set<std::pair<std::int64_t, std::int64_t>> attempts;
    std::set<std::int64_t> committed;
    for (const RunStep& step : record_.steps) {
      require(step.step >= 0 && step.attempt > 0, "a step or an attempt has no number");
      require(attempts.emplace(step.step, step.attempt).second, "two attempts are the same one");
      require(step.tokens >= 0, "the tokens of a step are negative");
      for (const auto* field : {&step.decision, &step.result, &step.prompt, &step.tool_call}) {
        text(*field);
      }
      if (!step.committed_sequence) continue;
      in_log(*step.committed_sequence);
      require(committed.insert(step.step).second, "two attempts of a step are committed");
    }
    require(record_.removed_step_tokens >= 0, "the tokens of removed runs are negative");
  }

  void requests(const std::vector<RunEvent>& events) const {
    std::set<std::int64_t> numbers;
    for (const DeferredApproval& request : record_.requests) {
      require(numbers.insert(to_int(request.request_id)).second, "two requests have one number");
      in_log(request.requested_sequence);
      if (request.decided_sequence) in_log(*request.decided_sequence);
      for (const auto* field : {&request.act, &request.target}) text(*field);
      if (request.content) text(*request.content);
    }
    for (const RunEvent& event : events) {
      if (!event.event_type.starts_with("approval.")) continue;
      const auto payload = nlohmann::json::parse(event.payload);
      if (!payload.is_object() || !payload.contains("request_id")) continue;
      require(payload["request_id"].is_number_integer() &&
                  numbers.contains(payload["request_id"].get<std::int64_t>()),
              "its log tells of a request that it does not have");
    }
  }

  void head() const {
    const Run& run = record_.run;
    require(!run.id.empty() && !run.workspace_id.empty(), "it has no id or no workspace");
    for (const std::string* field :
         {&run.workspace_id, &run.agent_name, &run.agent_version, &run.model, &run.input}) {
      text(*field);
    }
    for (const auto* field : {&run.provider, &run.file, &run.outcome_text, &run.origin_source}) {
      if (*field) text(**field);
    }
    const bool active = run.lifecycle == RunLifecycle::active;
    require(active == !run.outcome, "lifecycle and outcome do not fit");
    const bool root = !run.lineage.parent_run_id;
    require(root == (run.lineage.depth == 0), "parent and depth do not fit");
    require(run.lineage.depth >= 0 && run.lineage.depth <= 64, "it lies too deep");
    require(!root || run.lineage.root_run_id == run.id, "it is no root of its own");
    if (run.reason_detail) json(*run.reason_detail, "the detail of its reason");
  }

  void in_log(std::int64_t sequence) const {
    require(sequence > 0 && sequence <= record_.run.last_sequence,
            "something of it is of an event that it does not have");
  }

  void text(const std::string& field) const {
    require(!base::find_invalid_utf8(field), "a text of it is not UTF-8");
  }

  void json(const std::string& field, const std::string& what) const {
    base::check_json(field, what + " of run " + record_.run.id.str());
  }

  void require(bool good, const char* why) const {
    if (good) return;
    throw Error(ErrorCode::invalid_argument,
                "cannot store run " + record_.run.id.str() + ": " + why);
  }

  const RunRecord& record_;
};

}  // namespace

void check_run_record(const RunRecord& record, const std::vector<RunEvent>& events) {
  Check(record).all(events);
}

}  // namespace threadstore::state
