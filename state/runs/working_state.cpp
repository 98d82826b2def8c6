#include "state/runs/working_state.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "state/runs/run_json.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"

namespace threadstore {
namespace state {
namespace {

constexpr std::size_t kMostSnapshotBytes = 262'144;
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr const char* kNoArtifacts = R"({"items":[],"total":0,"omitted":0})";

template <class Enum>
std::string quoted_word(const std::optional<Enum>& value) {
  return value ? '"' + std::string(to_word(*value)) + '"' : "null";
}

/// Text, not a document that is built and printed: every event writes it.
std::string head_text(const RunHead& run, std::int64_t sequence, std::string_view event_type) {
  return R"({"objective":{"kind":"run_input","run_id":)" + Payload(run.id.str()).dump() +
         R"(},"run":{"lifecycle":")" + std::string(to_word(run.lifecycle)) + R"(","outcome":)" +
         quoted_word(run.outcome) + R"(,"reason_code":)" + quoted_word(run.reason_code) +
         R"(},"usage":)" + usage_text(run.usage) + R"(,"latest_event":{"sequence":)" +
         std::to_string(sequence) + R"(,"event_type":)" + Payload(event_type).dump() + "}}";
}

/// The newest artifacts up to a sequence, oldest of them first.
Payload artifacts_json(db::Session& session, const RunHead& run, std::int64_t cursor) {
  Payload items = Payload::array();
  session.each(R"(SELECT sequence, relative_path, sha256, size FROM run_artifacts
                  WHERE run_id = ? AND sequence <= ? ORDER BY sequence DESC LIMIT ?)",
               {run.id, cursor, working_state_artifacts}, [&](const db::Row& row) {
                 items.push_back({{"sequence", row.integer(0)},
                                  {"relative_path", row.text(1)},
                                  {"sha256", row.text(2)},
                                  {"size", row.integer(3)}});
               });
  std::reverse(items.begin(), items.end());
  const std::int64_t total =
      cursor == run.last_sequence
          ? run.artifact_count
          : session
                .value<std::int64_t>(
                    "SELECT count(*) FROM run_artifacts WHERE run_id = ? AND sequence <= ?",
                    {run.id, cursor})
                .value_or(0);
  const std::int64_t omitted = total - static_cast<std::int64_t>(items.size());
  return {{"items", std::move(items)}, {"total", total}, {"omitted", omitted}};
}

std::string new_artifacts(db::Session& session, const RunHead& run) {
  std::string text = artifacts_json(session, run, run.last_sequence).dump();
  if (text.size() > kMostSnapshotBytes - 4096) {
    throw Error(ErrorCode::invalid_argument,
                "the working state of run " + run.id.str() +
                    " would pass 262144 bytes: the paths of its artifacts are too long");
  }
  return text;
}

/// Writes the head and, when given, the artifacts over what stands there; false without a row.
bool update(db::Session& session, const RunHead& run, const std::string& head,
            const std::optional<std::string>& artifacts, UnixMillis now) {
  return session.run(R"(UPDATE run_working_state SET
                          projection_version = ?1, revision = revision + 1, event_cursor = ?2,
                          updated_at = ?3, head = ?4, artifacts = coalesce(?5, artifacts)
                        WHERE run_id = ?6 AND revision < ?7)",
                     {working_state_version, run.last_sequence, now, head, artifacts, run.id,
                      kHighest}) > 0;
}

void store(db::Session& session, const RunHead& run, std::string_view event_type,
           const std::optional<std::string>& artifacts, UnixMillis now) {
  const std::string head = head_text(run, run.last_sequence, event_type);
  if (update(session, run, head, artifacts, now)) return;
  if (session.exists("SELECT 1 FROM run_working_state WHERE run_id = ?", {run.id})) {
    throw_run_conflict("update the working state of", run.id,
                       "its revision is used up; nothing was written");
  }
  session.run(R"(INSERT INTO run_working_state(run_id, projection_version, revision, event_cursor,
                                               updated_at, head, artifacts)
                 VALUES (?, ?, 1, ?, ?, ?, ?))",
              {run.id, working_state_version, run.last_sequence, now, head,
               artifacts ? *artifacts
                         : (run.artifact_count == 0 ? kNoArtifacts : new_artifacts(session, run))});
}

std::string event_type_at(db::Session& session, const RunHead& run, std::int64_t sequence) {
  return session
      .value<std::string>("SELECT event_type FROM run_events WHERE run_id = ? AND sequence = ?",
                          {run.id, sequence})
      .value_or("");
}

std::optional<Payload> parse(const std::string& text) {
  if (base::find_json_fault(text)) return std::nullopt;
  return Payload::parse(text, nullptr, false);
}

/// Both parts are as they would be written at the cursor; at the newest event all of the head is
/// compared, before that only what cannot have changed since.
bool is_right(db::Session& session, const RunHead& run, std::int64_t cursor, const Payload& head,
              const Payload& artifacts) {
  Payload expected = Payload::parse(head_text(run, cursor, event_type_at(session, run, cursor)));
  if (cursor != run.last_sequence) {
    if (!head.is_object() || !head.contains("run") || !head.contains("usage")) return false;
    expected["run"] = head["run"];
    expected["usage"] = head["usage"];
  }
  return head == expected && artifacts == artifacts_json(session, run, cursor);
}

}  // namespace

void project_event(db::Session& session, const RunHead& run, std::string_view event_type,
                   UnixMillis now) {
  std::optional<std::string> artifacts;
  if (event_type == "artifact.created") artifacts = new_artifacts(session, run);
  store(session, run, event_type, artifacts, now);
}

void refresh_working_state(db::Session& session, const RunHead& run, UnixMillis now) {
  store(session, run, event_type_at(session, run, run.last_sequence), std::nullopt, now);
}

void rebuild_working_state(db::Session& session, const RunHead& run, UnixMillis now) {
  // A revision that no state can have counts as none.
  session.run("UPDATE run_working_state SET revision = 0 WHERE run_id = ? AND revision < 0",
              {run.id});
  store(session, run, event_type_at(session, run, run.last_sequence), new_artifacts(session, run),
        now);
}

WorkingState inspect_working_state(db::Session& session, const RunHead& run) {
  std::string head_text;
  std::string artifacts_text;
  auto state = session.one(R"(SELECT projection_version, revision, event_cursor, updated_at, head,
                                     artifacts
                              FROM run_working_state WHERE run_id = ?)",
                           {run.id}, [&](const db::Row& row) {
                             head_text = row.text(4);
                             artifacts_text = row.text(5);
                             return WorkingState{.version = row.integer(0),
                                                 .revision = row.integer(1),
                                                 .event_cursor = row.integer(2),
                                                 .updated_at = row.integer(3)};
                           });
  if (!state) return {};
  if (state->version != working_state_version) {
    state->status = WorkingStateStatus::unsupported;
    return *std::move(state);
  }
  const std::int64_t cursor = *state->event_cursor;
  if (*state->revision <= 0 || cursor < 0 || cursor > run.last_sequence) return *std::move(state);
  auto head = parse(head_text);
  auto artifacts = parse(artifacts_text);
  if (!head || !artifacts || !is_right(session, run, cursor, *head, *artifacts)) {
    return *std::move(state);
  }
  (*head)["artifacts"] = *std::move(artifacts);
  state->snapshot = head->dump();
  state->status =
      cursor == run.last_sequence ? WorkingStateStatus::current : WorkingStateStatus::stale;
  return *std::move(state);
}

}  // namespace state

WorkingState RunProjections::working_state(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    return state::inspect_working_state(session, state::require_run(session, *scope_, run));
  });
}

WorkingState RunProjections::rebuild_working_state(const RunId& run) {
  return scope_->write([&](db::Session& session) {
    const state::RunHead head = state::require_run(session, *scope_, run);
    state::rebuild_working_state(session, head, scope_->now());
    return state::inspect_working_state(session, head);
  });
}

}  // namespace threadstore
