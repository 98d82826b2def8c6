#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "threadstore/run_audit.h"
#include "threadstore/run_log.h"
#include "threadstore/run_requests.h"
#include "threadstore/run_steps.h"
#include "threadstore/run_tree.h"

namespace threadstore {

/// A run of another store that thinks in steps, as that store tells it: every list in its own
/// order, which only grows at its end.
struct ForeignTrace {
  /// An attempt, whose texts `load` reads when they are stored.
  struct Step {
    std::int64_t step = 0;
    bool committed = false;
    std::int64_t row = 0;
  };
  /// A spawn with a contract has the place that it takes in its step.
  struct Delegation {
    DelegationEvent event{};
    std::optional<std::int64_t> ordinal{};
  };
  struct Resume {
    std::int64_t step = 0;  ///< to be driven next
    std::string detail{};
  };
  /// A row of a list whose kind nobody knows: an event `imported.<list>`.
  struct Unknown {
    std::int64_t step = 0;
    std::string type{};
    std::string payload{};
  };
  template <class Event>
  using List = std::vector<std::variant<Event, Unknown>>;

  RunId id{};  ///< always the same for this run of that store
  std::string workspace_id{};
  std::string origin_source{};
  std::string origin_id{};
  NewRun run{};  ///< its key and thread are not used
  std::optional<RunId> parent{};
  std::optional<UnixMillis> started_at{};  ///< of everything in it; absent: now
  std::optional<RunEnd> end{};             ///< absent: it runs
  std::vector<Step> steps{};
  std::function<NewStep(const Step&)> load{};
  List<PolicyEvent> policy{};
  List<Delegation> delegation{};
  List<SandboxEvent> sandbox{};
  std::vector<Resume> resumes{};
  std::vector<DeferredApproval> requests{};    ///< known by their `origin_id`
  std::optional<SpawnContract> spawned_for{};  ///< the parent's log tells its place
};

/// What came of a run that was given to the store.
struct TakenRun {
  bool created = false;
  bool grown = false;      ///< it was there and got something new
  bool went_on = false;    ///< it was worked on here since: nothing was taken, though there is more
  std::int64_t steps = 0;  ///< new ones, like those that follow
  std::int64_t events = 0;
  std::int64_t requests = 0;
  std::int64_t spawns = 0;
};

}  // namespace threadstore
