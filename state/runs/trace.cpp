#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "state/runs/request_record.h"
#include "state/schema/schema.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"

// A facade: everything is done by the groups that it names, in one transaction where it is several
// steps.
namespace threadstore {
namespace {

NewRun new_run(const NewTrace& trace) {
  return {.agent_name = trace.agent_name,
          .agent_version = trace.agent_version,
          .model = trace.model,
          .input = trace.goal,
          .provider = trace.provider,
          .file = trace.file};
}

/// All of a list that is read in pages behind the last sequence.
template <class Entry, class Read>
std::vector<Entry> read_pages(Read&& read) {
  std::vector<Entry> all;
  for (std::int64_t after = 0;;) {
    std::vector<Entry> page = read(after);
    if (page.empty()) return all;
    after = page.back().sequence;
    std::move(page.begin(), page.end(), std::back_inserter(all));
  }
}

/// A paused run has to go on before it can end: with what it ends as for an answer.
void answer_pause(Runs runs, const Run& run, const std::string& outcome) {
  const auto suspension = runs.latest_suspension(run.id);
  runs.continue_suspended(run.id, {.expected_sequence = run.last_sequence,
                                   .suspension_sequence = suspension ? suspension->sequence : 1,
                                   .input = outcome});
}

}  // namespace

RunId RunTrace::start_run(const NewTrace& run) { return Runs(scope_).create(new_run(run)).id; }

RunId RunTrace::start_child_run(const RunId& parent, const NewTrace& run) {
  return RunTree(scope_).start_child(parent, new_run(run)).id;
}

void RunTrace::set_provider(const RunId& run, const std::string& name) {
  Runs(scope_).set_provider(run, name);
}

std::optional<std::string> RunTrace::provider(const RunId& run) const {
  return Runs(scope_).get(run).provider;
}

RunStatus RunTrace::status(const RunId& run) const { return run_status(Runs(scope_).get(run)); }

void RunTrace::set_status(const RunId& run, RunStatus status) {
  scope_->write([&](db::Session&) {
    if (this->status(run) == status) return;
    switch (status) {
      case RunStatus::running:
        if (!resume(run).resumed) {
          throw Error(ErrorCode::conflict, "cannot resume run " + run.str() + ": it is over",
                      {{"run_id", run.str()}});
        }
        break;
      case RunStatus::paused:
        Runs(scope_).finish(
            run, RunEnd::needs_user_input(RunReason::decision_required, "a decision is awaited"));
        break;
      case RunStatus::completed:
        finish_run(run, "success");
        break;
      case RunStatus::failed:
        finish_run(run, "failed");
        break;
    }
  });
}

void RunTrace::finish_run(const RunId& run, const std::string& outcome) {
  scope_->write([&](db::Session&) {
    Runs runs(scope_);
    const Run before = runs.get(run);
    const RunEnd end = RunEnd::from_word(outcome);
    const bool pauses = lifecycle_after(outcome_of(end.reason)) == RunLifecycle::suspended;
    if (before.lifecycle == RunLifecycle::suspended && !pauses) {
      answer_pause(runs, before, outcome);
    }
    runs.finish(run, end);
  });
}

std::optional<std::string> RunTrace::outcome(const RunId& run) const {
  return outcome_word(Runs(scope_).get(run));
}

std::optional<RunId> RunTrace::parent(const RunId& run) const {
  return Runs(scope_).lineage(run).parent_run_id;
}

std::int64_t RunTrace::depth(const RunId& run) const { return Runs(scope_).lineage(run).depth; }

std::vector<RunId> RunTrace::children(const RunId& run) const {
  std::vector<RunId> ids;
  for (Run& child : Runs(scope_).children(run)) ids.push_back(std::move(child.id));
  return ids;
}

double RunTrace::elapsed_secs(const RunId& run) const {
  return std::chrono::duration<double>(std::chrono::milliseconds(Runs(scope_).get(run).elapsed_ms))
      .count();
}

std::vector<RunId> RunTrace::tree_run_ids(const RunId& root) const {
  return RunTree(scope_).ids(root);
}

std::int64_t RunTrace::agent_count_tree(const RunId& root) const {
  return static_cast<std::int64_t>(tree_run_ids(root).size());
}

RunStep RunTrace::record(const RunId& run, const NewStep& step) {
  return RunSteps(scope_).record(run, step);
}

RunStep RunTrace::checkpoint_step(const RunId& run, const NewStep& step) {
  return RunSteps(scope_).commit(run, step);
}

std::vector<RunStep> RunTrace::steps(const RunId& run) const {
  std::vector<RunStep> all;
  StepFilter filter{.limit = 1000};
  do {
    Page<RunStep> page = RunSteps(scope_).list(run, filter);
    std::move(page.items.begin(), page.items.end(), std::back_inserter(all));
    filter.after = std::move(page.next);
  } while (filter.after);
  return all;
}

std::int64_t RunTrace::last_step(const RunId& run) const { return RunSteps(scope_).last(run); }

std::int64_t RunTrace::last_committed_step(const RunId& run) const {
  return RunSteps(scope_).last_committed(run);
}

std::int64_t RunTrace::spent_tokens(const RunId& run) const {
  return RunSteps(scope_).spent_tokens(run);
}

std::int64_t RunTrace::spent_tokens_tree(const RunId& root) const {
  return RunSteps(scope_).spent_tokens_tree(root);
}

void RunTrace::check_resumable(const RunId& run) const {
  scope_->read([&](db::Session& session) {
    db::is_current(session, state::state_schema(), scope_->context->file.string());
    state::require_run(session, *scope_, run);
  });
}

ResumePoint RunTrace::resume(const RunId& run, const std::string& detail) {
  return RunSteps(scope_).resume(run, detail);
}

std::vector<StepEvent> RunTrace::checkpoint_events(const RunId& run) const {
  return read_pages<StepEvent>(
      [&](std::int64_t after) { return RunAudit(scope_).steps(run, after); });
}

std::int64_t RunTrace::record_event(const RunId& run, const PolicyEvent& event) {
  return RunAudit(scope_).record(run, event);
}

std::vector<PolicyEvent> RunTrace::events(const RunId& run) const {
  return read_pages<PolicyEvent>(
      [&](std::int64_t after) { return RunAudit(scope_).policy(run, after); });
}

std::int64_t RunTrace::record_agent_event(const RunId& run, const DelegationEvent& event) {
  return RunAudit(scope_).record(run, event);
}

std::vector<DelegationEvent> RunTrace::agent_events(const RunId& run) const {
  return read_pages<DelegationEvent>(
      [&](std::int64_t after) { return RunAudit(scope_).delegation(run, after); });
}

std::int64_t RunTrace::record_sandbox_event(const RunId& run, const SandboxEvent& event) {
  return RunAudit(scope_).record(run, event);
}

std::vector<SandboxEvent> RunTrace::sandbox_events(const RunId& run) const {
  return read_pages<SandboxEvent>(
      [&](std::int64_t after) { return RunAudit(scope_).sandbox(run, after); });
}

RequestId RunTrace::put_pending(const RunId& run, const NewRequest& request) {
  return RunRequests(scope_).put(run, request).request_id;
}

std::optional<DeferredApproval> RunTrace::pending(RequestId request) const {
  return RunRequests(scope_).find(request);
}

Resolution RunTrace::resolve_pending(RequestId request, const Decision& decision) {
  state::check_decision(decision);
  return scope_->write([&](db::Session& session) {
    Resolution resolution{.request = state::get_request(session, *scope_, request)};
    resolution.won = state::decide_request(session, *scope_, resolution.request, decision);
    return resolution;
  });
}

std::vector<DeferredApproval> RunTrace::pending_approvals() const {
  return RunRequests(scope_).pending();
}

std::vector<DeferredApproval> RunTrace::pending_approvals(const RunId& run) const {
  return RunRequests(scope_).pending(run);
}

Spawned RunTrace::spawn_child(const NewSpawn& spawn) { return RunTree(scope_).spawn(spawn); }

std::optional<SpawnContract> RunTrace::find_spawn(const RunId& parent, std::int64_t step,
                                                  const std::string& goal) const {
  return RunTree(scope_).find(parent, step, goal);
}

}  // namespace threadstore
