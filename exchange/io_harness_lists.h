#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "exchange/run_import.h"

namespace threadstore::exchange {

/// The step in a column: one that no run of ours can have is none.
inline std::int64_t step_of(const db::Row& row, int column) {
  return std::max<std::int64_t>(0, row.integer(column));
}

/// The lists of an io-harness database by run. Its tables have no index: where a run's rows are is
/// found out once, and they are read by their keys.
class IoHarnessLists {
 public:
  /// Ids of runs as the store knows them.
  using RunIds = std::unordered_map<std::int64_t, RunId>;

  IoHarnessLists(db::Session& session, RunImport& job, const RunIds& runs);

  /// Fills in all lists of the run of that number, and how its steps are loaded. `marked`: its
  /// release marks the steps that are committed.
  void fill(std::int64_t run, ForeignTrace& trace, bool marked);

 private:
  static std::string run_name(std::int64_t run) { return "run " + std::to_string(run); }
  static std::string place_of(std::int64_t run, const std::string& table, std::int64_t row) {
    return run_name(run) + ", " + table + " " + std::to_string(row);
  }

  struct StepRow {
    std::int64_t id;
    std::int64_t step;
  };
  struct Contract {
    std::int64_t row;
    std::int64_t parent;
    std::int64_t step;
    std::int64_t ordinal;
  };
  using Rows = std::unordered_map<std::int64_t, std::vector<std::int64_t>>;

  Rows find_rows(const ForeignTable& table);
  void find_steps();
  void note_step_columns();
  void find_contracts();
  void note_orphans(const std::string& table, std::int64_t run, std::size_t rows);
  void each(const std::string& sql, const Rows& rows, std::int64_t run,
            const std::function<void(const db::Row&)>& visit);

  void add_steps(std::int64_t run, ForeignTrace& trace,
                 const std::optional<std::set<std::int64_t>>& committed);
  std::set<std::int64_t> add_marks(std::int64_t run, ForeignTrace& trace);
  void add_policy(std::int64_t run, ForeignTrace& trace);
  void add_delegation(std::int64_t run, ForeignTrace& trace);
  void add_sandbox(std::int64_t run, ForeignTrace& trace);
  void add_requests(std::int64_t run, ForeignTrace& trace);
  void add_contract(std::int64_t run, ForeignTrace& trace);
  NewStep load_step(std::int64_t run, const ForeignTrace::Step& step);
  RunId child_id(std::int64_t run, std::int64_t child);

  db::Session& session_;
  RunImport& job_;
  const RunIds& runs_;
  const ForeignTable steps_table_, policy_table_, requests_table_, agent_table_, sandbox_table_,
      marks_table_, spawns_table_;
  std::unordered_map<std::int64_t, std::vector<StepRow>> steps_{};
  Rows policy_{}, requests_{}, agents_{}, sandbox_{}, marks_{};
  std::unordered_map<std::int64_t, Contract> contracts_{};  ///< by child
  /// Parent, step and child of the spawns that the parents tell of.
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> spawned_{};
};

}  // namespace threadstore::exchange
