#include "state/runs/event_log.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "state/runs/working_state.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

// RETURNING would give the head too, by way of a temporary table: at three times the cost.
constexpr const char* kTakeSequence = R"sql(
  UPDATE runs SET last_sequence = last_sequence + 1, updated_at = ?1
  WHERE id = ?2 AND last_sequence < ?3)sql";
const std::string kSelectHead =
    std::string("SELECT ") + head_columns + " FROM runs AS r WHERE r.id = ?";

}  // namespace

// Not a join: it would let the walk start at the workspace's runs.
const std::string events_since_sql = std::string("SELECT ") + event_columns + R"sql(
  FROM run_events AS e
  WHERE e.gid > ?1
    AND EXISTS (SELECT 1 FROM runs AS r
                WHERE r.id = e.run_id AND r.workspace_id = ?2 AND)sql" +
                                     visible_run + R"sql()
  ORDER BY e.gid LIMIT ?3)sql";

std::int64_t append_event_text(db::Session& session, const RunId& run, std::string_view type,
                               std::string_view payload, UnixMillis now) {
  if (session.run(kTakeSequence, {now, run, std::numeric_limits<std::int64_t>::max()}) == 0) {
    throw_run_conflict("append to", run, "it vanished, or its sequence is used up");
  }
  const RunHead head = session.one(kSelectHead, {run}, read_head).value();
  session.run(R"(INSERT INTO run_events(run_id, sequence, timestamp, event_type, payload)
                 VALUES (?, ?, ?, ?, ?))",
              {run, head.last_sequence, now, type, payload});
  project_event(session, head, type, now);
  return head.last_sequence;
}

std::int64_t append_event(db::Session& session, const RunId& run, std::string_view type,
                          const Payload& payload, UnixMillis now) {
  return append_event_text(session, run, type, payload.dump(), now);
}

RunEvent read_event(const db::Row& row) {
  return {
      .gid = row.integer(0),
      .run_id = row.get<RunId>(1),
      .sequence = row.integer(2),
      .timestamp = row.integer(3),
      .event_type = row.text(4),
      .payload = row.text(5),
  };
}

std::string after_prefix(std::string prefix) {
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

}  // namespace threadstore::state
