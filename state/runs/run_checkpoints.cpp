#include "state/runs/run_checkpoints.h"

#include <nlohmann/json.hpp>

#include "state/runs/event_log.h"
#include "state/runs/run_json.h"
#include "threadstore/error.h"

namespace threadstore {

namespace state {

const std::string select_checkpoints = R"sql(
  SELECT run_id, sequence, schema_version, turn, name, created_at, state
  FROM run_checkpoints WHERE run_id = ?1)sql";

RunCheckpoint read_checkpoint(const db::Row& row) {
  return {
      .run_id = row.get<RunId>(0),
      .sequence = row.integer(1),
      .schema_version = row.integer(2),
      .turn = row.integer(3),
      .name = row.get<std::optional<std::string>>(4),
      .created_at = row.integer(5),
      .state = row.text(6),
  };
}

namespace {

/// Each holds a whole transcript: without this a run's checkpoints grow with its square.
void prune(db::Session& session, const RunId& run, std::size_t keep_last) {
  session.run(R"(DELETE FROM run_checkpoints WHERE run_id = ?1 AND name IS NULL
                   AND sequence NOT IN (SELECT sequence FROM run_checkpoints
                                        WHERE run_id = ?1 AND name IS NULL
                                        ORDER BY sequence DESC LIMIT ?2))",
              {run, keep_last});
}

}  // namespace

void check_checkpoint(const NewRunCheckpoint& checkpoint, std::size_t most) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "cannot save the checkpoint: " + why);
  };
  if (checkpoint.schema_version < 1) refuse("its schema version must be above 0");
  if (checkpoint.turn < 0) refuse("its turn must not be negative");
  if (checkpoint.keep_last < 1) refuse("at least one checkpoint must be kept");
  if (checkpoint.name) check_words(*checkpoint.name, "the checkpoint's name", 200);
  check_content(checkpoint.state, "the checkpoint's state", most);
}

std::int64_t insert_checkpoint(db::Session& session, const RunId& run,
                               const NewRunCheckpoint& checkpoint, UnixMillis now) {
  Payload payload{{"schema_version", checkpoint.schema_version}, {"turn", checkpoint.turn}};
  if (checkpoint.name) payload["name"] = *checkpoint.name;
  const std::int64_t sequence = append_event(session, run, "checkpoint.created", payload, now);
  if (checkpoint.name) {
    session.run("DELETE FROM run_checkpoints WHERE run_id = ? AND name = ?",
                {run, *checkpoint.name});
  }
  session.run(R"(INSERT INTO run_checkpoints(run_id, sequence, schema_version, turn, name,
                                             created_at, state)
                 VALUES (?, ?, ?, ?, ?, ?, ?))",
              {run, sequence, checkpoint.schema_version, checkpoint.turn, checkpoint.name, now,
               checkpoint.state});
  prune(session, run, checkpoint.keep_last);
  return sequence;
}

}  // namespace state

RunCheckpoint RunCheckpoints::save(const RunId& run, const NewRunCheckpoint& checkpoint) {
  state::check_checkpoint(checkpoint, scope_->most());
  return scope_->write([&](db::Session& session) {
    state::require_active(session, *scope_, run, "save a checkpoint of");
    const UnixMillis now = scope_->now();
    const std::int64_t sequence = state::insert_checkpoint(session, run, checkpoint, now);
    return RunCheckpoint{.run_id = run,
                         .sequence = sequence,
                         .schema_version = checkpoint.schema_version,
                         .turn = checkpoint.turn,
                         .name = checkpoint.name,
                         .created_at = now,
                         .state = checkpoint.state};
  });
}

std::optional<RunCheckpoint> RunCheckpoints::latest(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.one(state::select_checkpoints + " ORDER BY sequence DESC LIMIT 1", {run},
                       state::read_checkpoint);
  });
}

std::optional<RunCheckpoint> RunCheckpoints::find(const RunId& run, const std::string& name) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.one(state::select_checkpoints + " AND name = ?2", {run, name},
                       state::read_checkpoint);
  });
}

std::vector<RunCheckpoint> RunCheckpoints::list(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(R"(SELECT run_id, sequence, schema_version, turn, name, created_at, ''
                          FROM run_checkpoints WHERE run_id = ? ORDER BY sequence DESC)",
                       {run}, state::read_checkpoint);
  });
}

}  // namespace threadstore
