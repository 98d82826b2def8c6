#include "state/runs/call_record.h"

#include <nlohmann/json.hpp>

#include "state/runs/event_log.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

std::vector<Capability> read_capabilities(std::string_view text) {
  std::vector<Capability> capabilities;
  const Payload words = Payload::parse(text, nullptr, false);
  if (!words.is_array()) return capabilities;
  for (const auto& word : words) {
    if (!word.is_string()) continue;
    if (const auto known = from_word<Capability>(word.get_ref<const std::string&>())) {
      capabilities.push_back(*known);
    }
  }
  return capabilities;
}

template <class Enum>
std::optional<Enum> read_word(const db::Row& row, int column) {
  return row.is_null(column) ? std::nullopt : from_word<Enum>(row.view(column));
}

}  // namespace

const std::string select_calls = R"sql(
  SELECT c.run_id, c.call_id, c.requested_sequence, c.tool_name, c.arguments, c.status,
         c.outcome_class, c.result, c.result_content, c.error, c.error_code, c.repetition_key,
         c.consecutive_count, c.started_at, c.completed_at, c.finished_sequence
  FROM run_calls AS c WHERE c.run_id = ?1)sql";

RunCall read_call(const db::Row& row) {
  using Text = std::optional<std::string>;
  return {
      .run_id = row.get<RunId>(0),
      .call_id = row.get<CallId>(1),
      .requested_sequence = row.integer(2),
      .tool_name = row.text(3),
      .arguments = row.text(4),
      .status = from_word<CallStatus>(row.view(5)).value_or(CallStatus::indeterminate),
      .outcome_class = read_word<CallOutcomeClass>(row, 6),
      .result = row.get<Text>(7),
      .result_content = row.get<Text>(8),
      .error = row.get<Text>(9),
      .error_code = row.get<Text>(10),
      .repetition_key = row.get<Text>(11),
      .consecutive_count = row.get<std::optional<std::int64_t>>(12),
      .started_at = row.get<std::optional<UnixMillis>>(13),
      .completed_at = row.get<std::optional<UnixMillis>>(14),
      .finished_sequence = row.get<std::optional<std::int64_t>>(15),
  };
}

std::optional<RunCall> find_call(db::Session& session, const RunId& run, const CallId& call) {
  return session.one(select_calls + " AND c.call_id = ?2", {run, call}, read_call);
}

RunCall get_call(db::Session& session, const RunId& run, const CallId& call) {
  if (auto found = find_call(session, run, call)) return *std::move(found);
  throw Error(ErrorCode::not_found, "run " + run.str() + " has no call " + call.str(),
              {{"run_id", run.str()}, {"call_id", call.str()}});
}

RunCall require_call(db::Session& session, const RunId& run, const CallId& call, CallStatus status,
                     const std::string& doing) {
  RunCall found = get_call(session, run, call);
  if (found.status != status) {
    throw_call_conflict(
        found, doing,
        "it is " + std::string(to_word(found.status)) + ", not " + std::string(to_word(status)));
  }
  return found;
}

void throw_call_conflict(const RunCall& call, const std::string& doing, const std::string& why) {
  throw Error(ErrorCode::conflict,
              "cannot " + doing + " call " + call.call_id.str() + " of run " + call.run_id.str() +
                  ": " + why,
              {{"run_id", call.run_id.str()},
               {"call_id", call.call_id.str()},
               {"status", to_word(call.status)}});
}

std::int64_t store_outcome(db::Session& session, const RunCall& call, std::string_view type,
                           CallStatus status, const CallOutcome& outcome,
                           std::optional<std::int64_t> consecutive, UnixMillis now,
                           const std::string& answered_by) {
  const bool failed = status != CallStatus::completed;
  const Payload message = failed ? Payload(outcome.message) : Payload(nullptr);
  Payload payload{{"call_id", call.call_id.str()},
                  {"outcome", to_word(outcome.outcome_class)},
                  {"code", or_null(outcome.code)},
                  {"error", message},
                  {"message", message},
                  {"repetition_key", or_null(outcome.repetition_key)},
                  {"consecutive_count", or_null(consecutive)}};
  if (!answered_by.empty()) payload["answered_by"] = answered_by;
  session.run(R"(UPDATE run_calls SET
                   status = ?, outcome_class = ?, result = ?, result_content = ?, error = ?,
                   error_code = ?, repetition_key = ?, consecutive_count = ?, completed_at = ?
                 WHERE run_id = ? AND call_id = ?)",
              {status, outcome.outcome_class, outcome.result, outcome.result_content,
               failed ? std::optional(outcome.message) : std::nullopt, outcome.code,
               outcome.repetition_key, consecutive, now, call.run_id, call.call_id});
  const std::int64_t sequence = append_event(session, call.run_id, type, payload, now);
  session.run("UPDATE run_calls SET finished_sequence = ? WHERE run_id = ? AND call_id = ?",
              {sequence, call.run_id, call.call_id});
  return sequence;
}

void close_approval(db::Session& session, const RunId& run, const CallId& call, const char* reason,
                    UnixMillis now) {
  const auto approval = find_approval(session, run, call);
  if (!approval || approval->decision) return;
  const std::int64_t sequence = append_event(session, run, "approval.denied",
                                             {{"call_id", call.str()}, {"reason", reason}}, now);
  session.run(R"(UPDATE run_approvals SET decision = 'denied', decided_sequence = ?, decided_at = ?,
                                          reason = ?
                 WHERE run_id = ? AND call_id = ?)",
              {sequence, now, reason, run, call});
}

const std::string select_approvals = R"sql(
  SELECT a.run_id, a.call_id, c.tool_name, a.capabilities, a.requested_sequence, a.requested_at,
         a.decision, a.decided_sequence, a.decided_at, a.decided_by, a.reason
  FROM run_approvals AS a
  CROSS JOIN run_calls AS c ON c.run_id = a.run_id AND c.call_id = a.call_id)sql";

RunApproval read_approval(const db::Row& row) {
  return {
      .run_id = row.get<RunId>(0),
      .call_id = row.get<CallId>(1),
      .tool_name = row.text(2),
      .capabilities = read_capabilities(row.view(3)),
      .requested_sequence = row.integer(4),
      .requested_at = row.integer(5),
      .decision = read_word<ApprovalDecision>(row, 6),
      .decided_sequence = row.get<std::optional<std::int64_t>>(7),
      .decided_at = row.get<std::optional<UnixMillis>>(8),
      .decided_by = row.get<std::optional<std::string>>(9),
      .reason = row.get<std::optional<std::string>>(10),
  };
}

std::optional<RunApproval> find_approval(db::Session& session, const RunId& run,
                                         const CallId& call) {
  return session.one(select_approvals + " WHERE a.run_id = ? AND a.call_id = ?", {run, call},
                     read_approval);
}

}  // namespace threadstore::state
