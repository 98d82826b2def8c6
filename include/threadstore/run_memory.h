#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/run_words.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct RunScope;
}

/// The state from which an executor can go on.
struct RunCheckpoint {
  RunId run_id{};
  std::int64_t sequence = 0;  ///< of its event
  std::int64_t schema_version = 1;
  std::int64_t turn = 0;
  std::optional<std::string> name{};
  UnixMillis created_at = 0;
  std::string state{};  ///< JSON text

  friend bool operator==(const RunCheckpoint&, const RunCheckpoint&) = default;
};

struct NewRunCheckpoint {
  std::int64_t schema_version = 1;  ///< above 0
  std::int64_t turn = 0;            ///< not negative
  std::string state = "{}";         ///< any JSON, at most the content limit
  std::optional<std::string> name{};
  /// How many checkpoints without a name stay; older ones go. At least 1.
  std::size_t keep_last = 10;
};

/// The checkpoints of the runs of one workspace. A light handle like `Runs`.
class RunCheckpoints {
 public:
  RunCheckpoint save(const RunId& run, const NewRunCheckpoint& checkpoint);
  std::optional<RunCheckpoint> latest(const RunId& run) const;
  std::optional<RunCheckpoint> find(const RunId& run, const std::string& name) const;
  /// Newest first, without their state.
  std::vector<RunCheckpoint> list(const RunId& run) const;

 private:
  friend class Runs;
  explicit RunCheckpoints(std::shared_ptr<const state::RunScope> s) : scope_(std::move(s)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

/// A file that a run made.
struct RunArtifact {
  std::int64_t sequence = 0;  ///< of its event
  std::string relative_path{};
  std::string sha256{};  ///< 64 lower-case hexadecimal digits
  std::int64_t size = 0;

  friend bool operator==(const RunArtifact&, const RunArtifact&) = default;
};

struct NewArtifact {
  /// 1 to 1,024 bytes; parts between `/` neither empty nor `.` nor `..`; no backslash, colon or
  /// control character.
  std::string relative_path{};
  std::string sha256{};
  std::int64_t size = 0;  ///< at most the content limit
};

/// The artifacts of the runs of one workspace. A light handle like `Runs`.
class RunArtifacts {
 public:
  /// `conflict` when the run has an artifact of that path: artifacts never change.
  RunArtifact record(const RunId& run, const NewArtifact& artifact);
  std::vector<RunArtifact> list(const RunId& run) const;

 private:
  friend class Runs;
  explicit RunArtifacts(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

/// A compact account of a run, kept with every event: what it is about, where it stands, what it
/// used, the newest event and the newest 128 artifacts.
struct WorkingState {
  WorkingStateStatus status = WorkingStateStatus::unavailable;
  std::optional<std::int64_t> version{};
  std::optional<std::int64_t> revision{};
  std::optional<std::int64_t> event_cursor{};
  std::optional<UnixMillis> updated_at{};
  std::optional<std::string> snapshot{};  ///< a JSON object, when it could be verified

  friend bool operator==(const WorkingState&, const WorkingState&) = default;
};

/// What the tables say against the log. Empty when all is well.
struct RunDifferences {
  std::vector<std::string> what{};

  bool ok() const noexcept { return what.empty(); }
};

/// Everything about a run that could be made again from its log. A light handle like `Runs`.
class RunProjections {
 public:
  /// Reads and verifies the working state; writes nothing.
  WorkingState working_state(const RunId& run) const;
  /// Makes it again, in any lifecycle; no event.
  WorkingState rebuild_working_state(const RunId& run);

  /// Compares sequences, lifecycle, calls, approvals, artifacts, usage and working state of a run
  /// with its log. Reads the whole log.
  RunDifferences verify(const RunId& run) const;
  /// Repairs what `verify` finds, and says what it was. Contents that only a lost row had
  /// (arguments, results) cannot come back: such a call gets `{}`.
  RunDifferences rebuild(const RunId& run);

 private:
  friend class Runs;
  explicit RunProjections(std::shared_ptr<const state::RunScope> s) : scope_(std::move(s)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
