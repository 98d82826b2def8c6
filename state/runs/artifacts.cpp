#include <algorithm>
#include <nlohmann/json.hpp>

#include "state/runs/event_log.h"
#include "state/runs/run_json.h"
#include "threadstore/error.h"
#include "threadstore/run_memory.h"

namespace threadstore {
namespace {

constexpr std::size_t kMostPathBytes = 1024;

[[noreturn]] void refuse_path(const std::string& path, const char* why) {
  throw Error(ErrorCode::invalid_argument,
              "'" + path + "' is not the relative path of an artifact: " + why);
}

/// The path must stay below the directory that it will be joined to, on any system.
void check_path(const std::string& path) {
  state::check_text_size(path, "the artifact's path", kMostPathBytes);
  if (path.empty()) refuse_path(path, "it is empty");
  for (const char c : path) {
    if (c == '\\' || c == ':') refuse_path(path, "it holds a backslash or a colon");
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      refuse_path(path, "it holds a control character");
    }
  }
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string part = path.substr(start, end - start);
    if (part.empty()) refuse_path(path, "a part between slashes is empty");
    if (part == "." || part == "..") refuse_path(path, "a part is . or ..");
    start = end + 1;
  }
}

void check_artifact(const NewArtifact& artifact, std::size_t most) {
  check_path(artifact.relative_path);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (artifact.sha256.size() != 64 ||
      !std::all_of(artifact.sha256.begin(), artifact.sha256.end(), is_hex)) {
    throw Error(ErrorCode::invalid_argument,
                "a SHA-256 is 64 lower-case hexadecimal digits, not '" + artifact.sha256 + "'");
  }
  if (artifact.size < 0 || artifact.size > static_cast<std::int64_t>(most)) {
    throw Error(ErrorCode::invalid_argument, "an artifact has 0 to " + std::to_string(most) +
                                                 " bytes, not " + std::to_string(artifact.size));
  }
}

}  // namespace

RunArtifact RunArtifacts::record(const RunId& run, const NewArtifact& artifact) {
  check_artifact(artifact, scope_->most());
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "record an artifact of");
    if (session.exists("SELECT 1 FROM run_artifacts WHERE run_id = ? AND relative_path = ?",
                       {run, artifact.relative_path})) {
      state::throw_run_conflict(
          "record an artifact of", run,
          "it has one at " + artifact.relative_path + " already, and artifacts never change");
    }
    // Row and count first: the event's working state shows them. Nobody else takes the sequence.
    const std::int64_t sequence = head.last_sequence + 1;
    session.run(R"(INSERT INTO run_artifacts(run_id, relative_path, sequence, sha256, size)
                   VALUES (?, ?, ?, ?, ?))",
                {run, artifact.relative_path, sequence, artifact.sha256, artifact.size});
    session.run("UPDATE runs SET artifact_count = artifact_count + 1 WHERE id = ?", {run});
    state::append_event(session, run, "artifact.created",
                        {{"relative_path", artifact.relative_path},
                         {"sha256", artifact.sha256},
                         {"size", artifact.size}},
                        scope_->now());
    return RunArtifact{sequence, artifact.relative_path, artifact.sha256, artifact.size};
  });
}

std::vector<RunArtifact> RunArtifacts::list(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(
        R"(SELECT sequence, relative_path, sha256, size FROM run_artifacts
                          WHERE run_id = ? ORDER BY sequence)",
        {run}, [](const db::Row& row) {
          return RunArtifact{row.integer(0), row.text(1), row.text(2), row.integer(3)};
        });
  });
}

}  // namespace threadstore
