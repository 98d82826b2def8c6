#include "state/runs/verify.h"

#include <nlohmann/json.hpp>

#include "state/runs/run_usage.h"
#include "state/runs/working_state.h"
#include "threadstore/error.h"

// The log is what happened; the tables say it again so that it can be asked quickly.
namespace threadstore {

namespace state {
namespace {

std::string shown(const std::string& key) { return key; }
std::string shown(std::int64_t key) { return std::to_string(key); }
std::string shown(const Replay::Place& place) {
  return std::to_string(place.first) + "." + std::to_string(place.second);
}

template <class Map>
void compare_maps(const Map& log, const Map& tables, const std::string& noun,
                  std::vector<std::string>& what) {
  for (const auto& [key, value] : log) {
    const auto found = tables.find(key);
    if (found == tables.end()) {
      what.push_back(noun + " " + shown(key) + " is in the log but not in its table");
    } else if (!(found->second == value)) {
      what.push_back(noun + " " + shown(key) + " differs from the log");
    }
  }
  for (const auto& entry : tables) {
    if (log.count(entry.first) == 0) {
      what.push_back(noun + " " + shown(entry.first) + " is not in the log");
    }
  }
}

/// A spawned run may have been removed with its thread, and its contract with it.
void forget_removed_children(const RunScope& scope, Replay& log) {
  for (auto entry = log.spawns.begin(); entry != log.spawns.end();) {
    const bool there = scope.read([&](db::Session& session) {
      return session.exists("SELECT 1 FROM runs WHERE id = ?", {entry->second.child});
    });
    entry = there ? std::next(entry) : log.spawns.erase(entry);
  }
}

/// What a run's row says of the tokens of its steps, and what the rows below it add up to.
struct StepSums {
  std::int64_t own = 0;
  std::int64_t tree = 0;
  std::int64_t below = 0;
};

StepSums read_sums(db::Session& session, const RunId& run) {
  StepSums sums;
  session.each("SELECT step_tokens, tree_step_tokens FROM runs WHERE id = ?", {run},
               [&](const db::Row& row) {
                 sums.own = row.integer(0);
                 sums.tree = row.integer(1);
               });
  session.each("SELECT tree_step_tokens FROM runs WHERE parent_run_id = ?1 AND id <> ?1", {run},
               [&](const db::Row& row) { sums.below = bounded_sum(sums.below, row.integer(0)); });
  return sums;
}

/// Everything but what needs the last snapshot.
void compare_with(const RunHead& run, const Replay& tables, Comparison& result) {
  const Replay& log = result.log;
  auto& what = result.differences.what;
  if (log.gap) what.push_back("event " + std::to_string(*log.gap) + " is missing from the log");
  if (log.last_sequence != run.last_sequence) {
    what.push_back("the newest event is " + std::to_string(log.last_sequence) + ", the run says " +
                   std::to_string(run.last_sequence));
  }
  if (log.lifecycle != tables.lifecycle || log.outcome != tables.outcome ||
      log.reason_code != tables.reason_code || log.outcome_text != tables.outcome_text) {
    what.push_back("lifecycle, outcome or reason differ from the log");
  }
  if (log.provider != tables.provider) what.emplace_back("the provider differs from the log");
  if (result.usage != run.usage || log.own_usage != tables.own_usage) {
    what.emplace_back("usage differs from the log");
  }
  if (static_cast<std::int64_t>(log.artifacts.size()) != run.artifact_count) {
    what.emplace_back("the number of artifacts differs from the log");
  }
  compare_maps(log.calls, tables.calls, "call", what);
  compare_maps(log.approvals, tables.approvals, "the approval of call", what);
  compare_maps(log.requests, tables.requests, "the approval of request", what);
  compare_maps(log.artifacts, tables.artifacts, "artifact", what);
  compare_maps(log.steps, tables.steps, "step", what);
  compare_maps(log.spawns, tables.spawns, "spawn", what);
}

/// True when nothing happened to the run since `before`.
bool compare_last(const RunScope& scope, const RunHead& before, Comparison& result) {
  return scope.read([&](db::Session& session) {
    const RunHead now = require_run(session, scope, before.id);
    if (!is_unchanged(before, now)) return false;
    auto& what = result.differences.what;
    const StepSums sums = read_sums(session, before.id);
    if (sums.own != result.log.step_tokens()) {
      what.emplace_back("the sum of the steps' tokens differs from the log");
    }
    result.tree_step_tokens = bounded_sum(result.log.step_tokens(), sums.below);
    if (sums.tree < result.tree_step_tokens) {
      what.emplace_back("the sum of the tree's tokens is less than that of its runs");
    }
    const auto working = inspect_working_state(session, now);
    if (working.status != WorkingStateStatus::current) {
      what.push_back("the working state is " + std::string(to_word(working.status)));
    }
    return true;
  });
}

}  // namespace

bool is_unchanged(const RunHead& before, const RunHead& now) {
  return now.last_sequence == before.last_sequence && now.usage == before.usage;
}

void throw_always_changing(const RunId& run) {
  throw Error(ErrorCode::busy, "cannot compare run " + run.str() +
                                   " with its log: it changes all the time; try again when "
                                   "nobody works on it");
}

Comparison compare_run(const RunScope& scope, const RunId& run) {
  for (int tries = 0; tries < most_comparisons; ++tries) {
    const RunHead head =
        scope.read([&](db::Session& session) { return require_run(session, scope, run); });
    Comparison result{.run = head};
    replay_log(scope, run, result.log);
    forget_removed_children(scope, result.log);
    result.charges = replay_charges(scope, head);
    if (result.log.imported) {
      result.charges = sum_of_usage(result.charges, result.log.imported->charges);
    }
    const Replay tables = read_projections(scope, head);
    // What a run below used stays charged when it is removed with its thread, and its log is gone.
    const RunUsage charged = usage_without(head.usage, tables.own_usage);
    if (covers(charged, result.charges)) result.charges = charged;
    result.usage = sum_of_usage(result.log.own_usage, result.charges);
    compare_with(head, tables, result);
    if (compare_last(scope, head, result)) return result;
  }
  throw_always_changing(run);
}

}  // namespace state

RunDifferences RunProjections::verify(const RunId& run) const {
  return state::compare_run(*scope_, run).differences;
}

}  // namespace threadstore
