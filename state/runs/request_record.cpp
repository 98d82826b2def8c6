#include "state/runs/request_record.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "state/runs/event_log.h"
#include "threadstore/error.h"

namespace threadstore::state {

std::int64_t store_decision(db::Session& session, const RunId& run, RequestId request,
                            ApprovalDecision decision, const std::optional<std::string>& by,
                            const std::optional<std::string>& reason, UnixMillis now) {
  Payload payload{{"request_id", to_int(request)}};
  if (by) payload["decided_by"] = *by;
  if (reason) payload["reason"] = *reason;
  const bool granted = decision == ApprovalDecision::granted;
  const std::int64_t sequence =
      append_event(session, run, granted ? "approval.granted" : "approval.denied", payload, now);
  session.run(R"(UPDATE run_approvals SET decision = ?, decided_sequence = ?, decided_at = ?,
                                          decided_by = ?, reason = ?
                 WHERE request_id = ?)",
              {decision, sequence, now, by, reason, request});
  return sequence;
}

const std::string select_requests = std::string(R"sql(
  SELECT a.request_id, a.run_id, a.step, a.act, a.target, a.content, a.request_key,
         a.requested_sequence, a.requested_at, a.decision, a.decided_sequence, a.decided_at,
         a.decided_by, a.reason, a.origin_id
  FROM run_approvals AS a CROSS JOIN runs AS r ON r.id = a.run_id
  WHERE a.call_id IS NULL AND r.workspace_id = ?1 AND)sql") +
                                    visible_run;

DeferredApproval read_request(const db::Row& row) {
  using Text = std::optional<std::string>;
  return {
      .request_id = row.get<RequestId>(0),
      .run_id = row.get<RunId>(1),
      .step = row.integer(2),
      .act = row.text(3),
      .target = row.text(4),
      .content = row.get<Text>(5),
      .key = row.get<Text>(6),
      .requested_sequence = row.integer(7),
      .requested_at = row.integer(8),
      .decision = row.is_null(9) ? std::nullopt : from_word<ApprovalDecision>(row.view(9)),
      .decided_sequence = row.get<std::optional<std::int64_t>>(10),
      .decided_at = row.get<std::optional<UnixMillis>>(11),
      .decided_by = row.get<Text>(12),
      .reason = row.get<Text>(13),
      .origin_id = row.get<Text>(14),
  };
}

std::optional<DeferredApproval> find_request(db::Session& session, const RunScope& scope,
                                             RequestId request) {
  return session.one(select_requests + " AND a.request_id = ?2", {scope.workspace, request},
                     read_request);
}

DeferredApproval get_request(db::Session& session, const RunScope& scope, RequestId request) {
  if (auto found = find_request(session, scope, request)) return *std::move(found);
  throw Error(ErrorCode::not_found,
              "there is no request " + std::to_string(to_int(request)) +
                  " for an approval in workspace " + scope.workspace,
              {{"request_id", to_int(request)}, {"workspace_id", scope.workspace}});
}

RequestId insert_request(db::Session& session, const RunHead& run, const NewRequest& request,
                         const std::optional<std::string>& origin_id, UnixMillis now) {
  // The row first, for its number: the event that is next takes the next sequence.
  const auto id = static_cast<RequestId>(session.insert(
      R"(INSERT INTO run_approvals(run_id, step, act, target, content, request_key,
                                   requested_sequence, requested_at, origin_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?))",
      {run.id, request.step, request.act, request.target, request.content, request.key,
       run.last_sequence + 1, now, origin_id}));
  append_event(session, run.id, "approval.requested",
               {{"request_id", to_int(id)},
                {"step", request.step},
                {"act", request.act},
                {"target", request.target}},
               now);
  return id;
}

void check_decision(const Decision& decision) {
  check_words(decision.decided_by, "who decided", 1024);
  if (decision.reason) check_text_size(*decision.reason, "the reason", max_run_prompt);
}

void require_open_to_decisions(const RunHead& run) {
  const bool waits = run.lifecycle == RunLifecycle::suspended &&
                     (run.reason_code == RunReason::approval_required ||
                      run.reason_code == RunReason::effect_unknown);
  if (run.lifecycle == RunLifecycle::active || waits) return;
  throw_run_conflict("decide an approval of", run.id, describe_state(run));
}

bool decide_request(db::Session& session, const RunScope& scope, DeferredApproval& request,
                    const Decision& decision) {
  if (request.decision) return false;
  require_open_to_decisions(require_run(session, scope, request.run_id));
  const UnixMillis now = scope.now();
  request.decision = decision.decision;
  request.decided_at = now;
  request.decided_by = decision.decided_by;
  request.reason = decision.reason;
  request.decided_sequence =
      store_decision(session, request.run_id, request.request_id, decision.decision,
                     request.decided_by, request.reason, now);
  return true;
}

void close_requests(db::Session& session, const RunId& run, const char* reason, UnixMillis now) {
  const auto open = session.all(R"(SELECT request_id FROM run_approvals
                                   WHERE run_id = ? AND decision IS NULL AND call_id IS NULL
                                   ORDER BY request_id)",
                                {run}, [](const db::Row& row) { return row.get<RequestId>(0); });
  for (const RequestId request : open) {
    store_decision(session, run, request, ApprovalDecision::denied, std::nullopt, reason, now);
  }
}

}  // namespace threadstore::state
