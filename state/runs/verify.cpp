#include <nlohmann/json.hpp>
#include <set>

#include "state/runs/replay.h"
#include "state/runs/run_usage.h"
#include "state/runs/working_state.h"
#include "threadstore/error.h"
#include "threadstore/run_memory.h"

// The log is what happened; the tables say it again so that it can be asked quickly.
namespace threadstore {
namespace {

using state::Replay;
using state::RunHead;

template <class Map>
void compare_maps(const Map& log, const Map& tables, const std::string& noun,
                  std::vector<std::string>& what) {
  for (const auto& [key, value] : log) {
    const auto found = tables.find(key);
    if (found == tables.end()) {
      what.push_back(noun + " " + key + " is in the log but not in its table");
    } else if (!(found->second == value)) {
      what.push_back(noun + " " + key + " differs from the log");
    }
  }
  for (const auto& entry : tables) {
    if (log.count(entry.first) == 0) {
      what.push_back(noun + " " + entry.first + " is not in the log");
    }
  }
}

struct Comparison {
  Replay log;
  RunUsage usage;
  RunDifferences differences;
};

Comparison compare(db::Session& session, const RunHead& run) {
  Comparison result{.log = state::replay_log(session, run.id),
                    .usage = state::replay_usage(session, run),
                    .differences = {}};
  const Replay tables = state::read_projections(session, run);
  const Replay& log = result.log;
  auto& what = result.differences.what;
  if (log.gap) what.push_back("event " + std::to_string(*log.gap) + " is missing from the log");
  if (log.last_sequence != run.last_sequence) {
    what.push_back("the newest event is " + std::to_string(log.last_sequence) + ", the run says " +
                   std::to_string(run.last_sequence));
  }
  if (log.lifecycle != tables.lifecycle || log.outcome != tables.outcome ||
      log.reason_code != tables.reason_code) {
    what.push_back("lifecycle, outcome or reason differ from the log");
  }
  if (result.usage != run.usage) what.emplace_back("usage differs from the log");
  if (static_cast<std::int64_t>(log.artifacts.size()) != run.artifact_count) {
    what.emplace_back("the number of artifacts differs from the log");
  }
  compare_maps(log.calls, tables.calls, "call", what);
  compare_maps(log.approvals, tables.approvals, "the approval of call", what);
  compare_maps(log.artifacts, tables.artifacts, "artifact", what);
  const auto working = state::inspect_working_state(session, run);
  if (working.status != WorkingStateStatus::current) {
    what.push_back("the working state is " + std::string(to_word(working.status)));
  }
  return result;
}

void restore_row(db::Session& session, const RunHead& run, const Comparison& found) {
  session.run(R"(UPDATE runs SET lifecycle = ?, outcome = ?, reason_code = ?, last_sequence = ?,
                                 artifact_count = ?
                 WHERE id = ?)",
              {found.log.lifecycle, found.log.outcome, found.log.reason_code,
               found.log.last_sequence, found.log.artifacts.size(), run.id});
  state::store_usage(session, run.id, found.usage);
}

/// Contents that are in the row stay; a row that is gone comes back without them.
void restore_calls(db::Session& session, const RunId& run, const Replay& log) {
  std::vector<std::string> extra =
      session.all("SELECT call_id FROM run_calls WHERE run_id = ?", {run},
                  [](const db::Row& row) { return row.text(0); });
  std::erase_if(extra, [&](const std::string& id) { return log.calls.count(id) != 0; });
  for (const std::string& id : extra) {
    session.run("DELETE FROM run_calls WHERE run_id = ? AND call_id = ?", {run, id});
  }
  for (const auto& [id, call] : log.calls) {
    session.run(
        R"(INSERT INTO run_calls(run_id, call_id, requested_sequence, tool_name, arguments, status,
                                 outcome_class, error, error_code, repetition_key,
                                 consecutive_count, started_at, completed_at, finished_sequence)
           VALUES (?, ?, ?, ?, '{}', ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (run_id, call_id) DO UPDATE SET
             requested_sequence = excluded.requested_sequence, tool_name = excluded.tool_name,
             status = excluded.status, outcome_class = excluded.outcome_class,
             error = excluded.error, error_code = excluded.error_code,
             repetition_key = excluded.repetition_key,
             consecutive_count = excluded.consecutive_count, started_at = excluded.started_at,
             completed_at = excluded.completed_at,
             finished_sequence = excluded.finished_sequence)",
        {run, id, call.requested_sequence, call.tool_name, call.status, call.outcome_class,
         call.error, call.error_code, call.repetition_key, call.consecutive_count, call.started_at,
         call.completed_at, call.finished_sequence});
  }
}

void restore_approvals(db::Session& session, const RunId& run, const Replay& log) {
  session.run("DELETE FROM run_approvals WHERE run_id = ? AND call_id IS NOT NULL", {run});
  for (const auto& [id, approval] : log.approvals) {
    session.run(R"(INSERT INTO run_approvals(run_id, call_id, capabilities, requested_sequence,
                                             requested_at, decision, decided_sequence, decided_at,
                                             decided_by, reason)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
                {run, id, approval.capabilities, approval.requested_sequence, approval.requested_at,
                 approval.decision, approval.decided_sequence, approval.decided_at,
                 approval.decided_by, approval.reason});
  }
}

void restore_artifacts(db::Session& session, const RunId& run, const Replay& log) {
  session.run("DELETE FROM run_artifacts WHERE run_id = ?", {run});
  for (const auto& [path, artifact] : log.artifacts) {
    session.run(R"(INSERT INTO run_artifacts(run_id, relative_path, sequence, sha256, size)
                   VALUES (?, ?, ?, ?, ?))",
                {run, path, artifact.sequence, artifact.sha256, artifact.size});
  }
}

}  // namespace

RunDifferences RunProjections::verify(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    return compare(session, state::require_run(session, *scope_, run)).differences;
  });
}

RunDifferences RunProjections::rebuild(const RunId& run) {
  return scope_->write([&](db::Session& session) {
    const RunHead head = state::require_run(session, *scope_, run);
    const Comparison found = compare(session, head);
    if (found.differences.ok()) return found.differences;
    if (found.log.gap) {
      throw Error(ErrorCode::damaged,
                  "cannot rebuild run " + run.str() + ": event " + std::to_string(*found.log.gap) +
                      " is missing from its log, which the rest is made from",
                  {{"run_id", run.str()}, {"missing", *found.log.gap}});
    }
    restore_row(session, head, found);
    restore_calls(session, run, found.log);
    restore_approvals(session, run, found.log);
    restore_artifacts(session, run, found.log);
    state::rebuild_working_state(session, state::require_run(session, *scope_, run), scope_->now());
    return found.differences;
  });
}

}  // namespace threadstore
