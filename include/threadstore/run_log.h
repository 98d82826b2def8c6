#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/page.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct RunScope;
}

/// One event of a run's log. Events never change.
struct RunEvent {
  std::int64_t gid = 0;  ///< over all runs, growing in commit order, never re-used
  RunId run_id{};
  std::int64_t sequence = 0;  ///< within the run, without a gap from 1
  UnixMillis timestamp = 0;
  std::string event_type{};
  std::string payload{};  ///< JSON text

  friend bool operator==(const RunEvent&, const RunEvent&) = default;
};

/// The append-only log of the runs of one workspace (docs/runs.md lists the event types). A light
/// handle like `Runs`.
class RunLog {
 public:
  /// Appends an event of the caller's to an active run; returns its sequence. The prefixes run.
  /// checkpoint. tool. approval. artifact. delegation. step. policy. sandbox. budget. and the types
  /// model.requested and model.responded are the store's own: `invalid_argument`, as are a blank
  /// type and a payload that is not JSON or is above the content limit. `conflict` when the run is
  /// not active.
  std::int64_t append(const RunId& run, const std::string& type, const std::string& payload = "{}");

  /// Events with a sequence above `after`, ascending, at most `limit`. Throws `not_found`.
  std::vector<RunEvent> list(const RunId& run, std::int64_t after = 0,
                             std::size_t limit = 1000) const;
  /// The same for one type or, when it ends with a dot, one prefix.
  std::vector<RunEvent> list_of_type(const RunId& run, const std::string& type,
                                     std::int64_t after = 0, std::size_t limit = 1000) const;

  /// Events of all runs of the workspace with a `gid` above the given one, ascending.
  std::vector<RunEvent> since(std::int64_t gid, std::size_t limit = 1000) const;
  /// The highest `gid` in the store; 0 when there is no event.
  std::int64_t newest_gid() const;

 private:
  friend class Runs;
  explicit RunLog(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
