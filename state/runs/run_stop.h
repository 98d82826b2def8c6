#pragma once

#include <optional>
#include <string>

#include "state/runs/run_json.h"
#include "state/runs/run_record.h"

namespace threadstore::state {

/// How one run stops: what its row and its event say.
struct RunStop {
  RunReason reason;
  std::string detail = "{}";  ///< a JSON object
  std::optional<std::string> output{};
  std::optional<std::string> error{};
  std::string prompt{};                            ///< of a suspension
  std::optional<std::string> assistant_message{};  ///< of a suspension
  std::optional<std::string> outcome_text{};

  RunOutcome outcome() const { return outcome_of(reason); }
};

/// Throws `invalid_argument` when a run must not end so.
RunStop checked_stop(const RunEnd& end, std::size_t most);

/// Stops an active run, first the active runs below it. What `Runs::finish` does, inside a
/// transaction. `doing` completes "cannot <doing> run …".
void stop_tree(db::Session& session, const RunScope& scope, const RunHead& run, const RunStop& stop,
               bool refuse_with_active_children, UnixMillis now);

/// The same without a look at the runs below.
void stop_alone(db::Session& session, const RunScope& scope, const RunHead& run,
                const RunStop& stop, UnixMillis now);

/// Makes the row of a stopped run active again, cleared of how it stopped. No event.
void reactivate(db::Session& session, const RunId& run, UnixMillis now);

/// Tells an active parent that a run below it is over.
void report_to_parent(db::Session& session, const RunScope& scope, const RunId& run,
                      UnixMillis now);

}  // namespace threadstore::state
