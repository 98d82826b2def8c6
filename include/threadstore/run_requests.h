#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/run_calls.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct RunScope;
}

/// The number of a deferred approval, unique in the store and never used again.
enum class RequestId : std::int64_t {};

constexpr std::int64_t to_int(RequestId id) noexcept { return static_cast<std::int64_t>(id); }

/// What a step wants to do and may not without a decision, with all that is needed to do exactly
/// that once it is allowed. A row of `run_approvals` without a call, and with it the events
/// `approval.requested` {request_id, step, act, target} and, once decided, `approval.granted` or
/// `approval.denied` {request_id, decided_by, reason}. The content stands only in the row.
struct DeferredApproval {
  RequestId request_id{};
  RunId run_id{};
  std::int64_t step = 0;
  std::string act{};  ///< read, write, exec, or another word
  std::string target{};
  std::optional<std::string> content{};  ///< any text
  std::optional<std::string> key{};
  std::int64_t requested_sequence = 0;
  UnixMillis requested_at = 0;
  std::optional<ApprovalDecision> decision{};
  std::optional<std::int64_t> decided_sequence{};
  std::optional<UnixMillis> decided_at{};
  std::optional<std::string> decided_by{};
  std::optional<std::string> reason{};
  std::optional<std::string> origin_id{};  ///< its number in the store that it was imported from

  friend bool operator==(const DeferredApproval&, const DeferredApproval&) = default;
};

struct NewRequest {
  std::int64_t step = 0;
  std::string act{};
  std::string target{};
  std::optional<std::string> content{};  ///< at most the content limit
  /// Idempotency key within the run, 1 to 200 bytes: a step that is driven again finds the request
  /// that it made before, and its decision. `conflict` when that was for something else.
  std::optional<std::string> key{};
};

/// The deferred approvals of the runs of one workspace. A light handle like `Runs`; every call is
/// atomic.
class RunRequests {
 public:
  /// Asks. The run must be active; `Runs::finish` with `approval_required` then lets it wait.
  DeferredApproval put(const RunId& run, const NewRequest& request);

  /// The first decision wins; a later one is a `conflict` that says who decided what (details:
  /// decision, decided_by, decided_at). Any process may decide, also while the run is suspended
  /// for an approval.
  DeferredApproval decide(RequestId request, const Decision& decision);

  std::optional<DeferredApproval> find(RequestId request) const;
  DeferredApproval get(RequestId request) const;  ///< throws `not_found`
  /// All of a run, decided or not, in the order of asking.
  std::vector<DeferredApproval> list(const RunId& run) const;
  /// Undecided ones of a run, or of all runs of the workspace, oldest first.
  std::vector<DeferredApproval> pending(const RunId& run, std::size_t limit = 1000) const;
  std::vector<DeferredApproval> pending(std::size_t limit = 1000) const;

 private:
  friend class Runs;
  friend class RunTrace;
  explicit RunRequests(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
