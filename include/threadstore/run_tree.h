#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/run_record.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct RunScope;
}

/// What a child run was spawned for. A row of `run_spawns`; the spawn is also an event
/// `delegation.started` {step, ordinal, child_run_id, detail: the goal} of the parent.
struct SpawnContract {
  RunId parent_run_id{};
  std::int64_t step = 0;     ///< of the parent
  std::int64_t ordinal = 0;  ///< position of the spawn in that step, from 0
  RunId child_run_id{};
  std::string goal{};
  std::string verify_file{};
  std::string needle{};
  std::optional<std::int64_t> max_steps{};
  std::string deny_write = "[]";  ///< a JSON array
  UnixMillis created_at = 0;

  friend bool operator==(const SpawnContract&, const SpawnContract&) = default;
};

struct NewSpawn {
  RunId parent{};
  std::int64_t step = 0;     ///< not negative
  std::int64_t ordinal = 0;  ///< not negative
  std::string goal{};        ///< also the child's input, unless `child.input` is set
  std::string verify_file{};
  std::string needle{};
  std::optional<std::int64_t> max_steps{};  ///< not negative
  std::string deny_write = "[]";
  NewRun child{};  ///< blank agent, version, model are the parent's; its key is not used
  std::int64_t max_depth = 64;  ///< 1 to 64
};

/// A spawned run: new, or `adopted` because this place in the step had spawned it before.
struct Spawned {
  Run child;
  SpawnContract contract;
  bool adopted = false;
};

/// What one model used: the part of a tree that ran with it.
struct ModelUsage {
  std::optional<std::string> provider{};
  std::string model{};
  std::int64_t runs = 0;
  RunUsage usage{};
  std::int64_t step_tokens = 0;

  friend bool operator==(const ModelUsage&, const ModelUsage&) = default;
};

/// What a run used itself, and with all runs below it. `Run::usage`, which budgets look at, is what
/// was charged: it leaves out what a run below used while this one was not active.
struct UsageReport {
  RunUsage own{};
  RunUsage subtree{};
  std::int64_t own_step_tokens = 0;
  std::int64_t subtree_step_tokens = 0;
  std::int64_t runs = 0;               ///< in the subtree, with the run itself
  std::vector<ModelUsage> by_model{};  ///< of the subtree, by provider and model

  friend bool operator==(const UsageReport&, const UsageReport&) = default;
};

/// The runs below a run of one workspace. A light handle like `Runs`. Reading goes through the tree
/// in short snapshots: runs that are made meanwhile may be missing. It ends on a damaged file's
/// parent cycle too, each run named once.
class RunTree {
 public:
  /// Makes the child, its contract and the parent's event in one transaction, once per parent, step
  /// and ordinal: a step that is driven again adopts the child that it made before, whatever the
  /// parent's or the child's state. `conflict` when that was for another goal, the parent is not
  /// active, or the depth is reached.
  Spawned spawn(const NewSpawn& spawn);
  /// A child without a contract, whose spawn its caller logs (`RunAudit::record`).
  Run start_child(const RunId& parent, const NewRun& child, std::int64_t max_depth = 64);

  /// The oldest spawn of a step for that goal.
  std::optional<SpawnContract> find(const RunId& parent, std::int64_t step,
                                    const std::string& goal) const;
  std::optional<SpawnContract> find(const RunId& parent, std::int64_t step,
                                    std::int64_t ordinal) const;
  std::vector<SpawnContract> spawns(const RunId& parent) const;  ///< by step and ordinal

  /// The run and all below it, in the order of creation.
  std::vector<RunId> ids(const RunId& root) const;
  /// The records of the same, parents before their children.
  std::vector<Run> runs(const RunId& root) const;
  UsageReport usage(const RunId& root) const;

 private:
  friend class Runs;
  friend class RunTrace;
  explicit RunTree(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
