#include <algorithm>
#include <nlohmann/json.hpp>

#include "state/runs/call_record.h"
#include "state/runs/event_log.h"
#include "state/runs/request_record.h"
#include "state/threads/keyset_cursor.h"
#include "threadstore/error.h"
#include "threadstore/run_calls.h"

// One approval per call, decided once. The row is written with its event, so that finding one never
// reads the log.
namespace threadstore {
namespace {

using state::Payload;

Payload capability_words(const std::vector<Capability>& capabilities) {
  Payload words = Payload::array();
  for (const Capability capability : capabilities) words.push_back(to_word(capability));
  return words;
}

void check_capabilities(const std::vector<Capability>& capabilities) {
  if (capabilities.empty()) {
    throw Error(ErrorCode::invalid_argument, "an approval needs at least one capability");
  }
  auto sorted = capabilities;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw Error(ErrorCode::invalid_argument, "an approval names a capability twice");
  }
}

[[noreturn]] void throw_decided(const RunApproval& approval) {
  const std::string by = approval.decided_by ? " by " + *approval.decided_by : std::string();
  throw Error(ErrorCode::conflict,
              "the approval of call " + approval.call_id.str() + " of run " +
                  approval.run_id.str() + " was " + std::string(to_word(*approval.decision)) + by +
                  " already",
              {{"run_id", approval.run_id.str()},
               {"call_id", approval.call_id.str()},
               {"decision", to_word(*approval.decision)},
               {"decided_by", approval.decided_by ? nlohmann::json(*approval.decided_by)
                                                  : nlohmann::json(nullptr)},
               {"decided_at", approval.decided_at.value_or(0)}});
}

RunApproval get_approval(db::Session& session, const RunId& run, const CallId& call) {
  if (auto found = state::find_approval(session, run, call)) return *std::move(found);
  throw Error(ErrorCode::not_found,
              "call " + call.str() + " of run " + run.str() + " did not ask for an approval",
              {{"run_id", run.str()}, {"call_id", call.str()}});
}

}  // namespace

RunApproval RunCalls::request_approval(const RunId& run, const CallId& call,
                                       const std::vector<Capability>& capabilities) {
  check_capabilities(capabilities);
  return scope_->write([&](db::Session& session) {
    state::require_active(session, *scope_, run, "ask for an approval of");
    const std::string doing = "ask for an approval of";
    const RunCall row = state::require_call(session, run, call, CallStatus::requested, doing);
    if (state::find_approval(session, run, call)) {
      state::throw_call_conflict(row, doing, "it asked before");
    }
    const UnixMillis now = scope_->now();
    const Payload words = capability_words(capabilities);
    const std::int64_t sequence =
        state::append_event(session, run, "approval.requested",
                            {{"call_id", call.str()}, {"capabilities", words}}, now);
    session.run(R"(INSERT INTO run_approvals(run_id, call_id, capabilities, requested_sequence,
                                             requested_at)
                   VALUES (?, ?, ?, ?, ?))",
                {run, call, words.dump(), sequence, now});
    return get_approval(session, run, call);
  });
}

RunApproval RunCalls::decide(const RunId& run, const CallId& call, const Decision& decision) {
  state::check_decision(decision);
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_run(session, *scope_, run);
    const RunApproval approval = get_approval(session, run, call);
    if (approval.decision) throw_decided(approval);
    state::require_open_to_decisions(head);
    const UnixMillis now = scope_->now();
    Payload payload{{"call_id", call.str()}, {"decided_by", decision.decided_by}};
    if (decision.reason) payload["reason"] = *decision.reason;
    const bool granted = decision.decision == ApprovalDecision::granted;
    const std::int64_t sequence = state::append_event(
        session, run, granted ? "approval.granted" : "approval.denied", payload, now);
    session.run(
        R"(UPDATE run_approvals SET decision = ?, decided_sequence = ?, decided_at = ?,
                                            decided_by = ?, reason = ?
                   WHERE run_id = ? AND call_id = ?)",
        {decision.decision, sequence, now, decision.decided_by, decision.reason, run, call});
    return get_approval(session, run, call);
  });
}

std::optional<RunApproval> RunCalls::find_approval(const RunId& run, const CallId& call) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return state::find_approval(session, run, call);
  });
}

std::vector<RunApproval> RunCalls::approvals(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(
        state::select_approvals + " WHERE a.run_id = ? ORDER BY a.requested_sequence", {run},
        state::read_approval);
  });
}

std::vector<RunApproval> RunCalls::pending_approvals(std::size_t limit) const {
  state::check_limit(limit);
  return scope_->read([&](db::Session& session) {
    return session.all(state::select_approvals + R"( CROSS JOIN runs AS r ON r.id = a.run_id
                         WHERE a.decision IS NULL AND r.workspace_id = ?
                           AND NOT EXISTS (SELECT 1 FROM thread_removals AS t
                                           WHERE t.thread_id = r.thread_id AND t.kind = 'remove')
                         ORDER BY a.requested_at, a.request_id LIMIT ?)",
                       {scope_->workspace, limit}, state::read_approval);
  });
}

}  // namespace threadstore
