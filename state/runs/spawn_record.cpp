#include "state/runs/spawn_record.h"

namespace threadstore::state {

const std::string select_contracts = R"sql(
  SELECT parent_run_id, step, ordinal, child_run_id, goal, verify_file, needle, max_steps,
         deny_write, created_at
  FROM run_spawns)sql";

SpawnContract read_contract(const db::Row& row) {
  return {
      .parent_run_id = row.get<RunId>(0),
      .step = row.integer(1),
      .ordinal = row.integer(2),
      .child_run_id = row.get<RunId>(3),
      .goal = row.text(4),
      .verify_file = row.text(5),
      .needle = row.text(6),
      .max_steps = row.get<std::optional<std::int64_t>>(7),
      .deny_write = row.text(8),
      .created_at = row.integer(9),
  };
}

void insert_contract(db::Session& session, const SpawnContract& contract) {
  session.run(R"(INSERT INTO run_spawns(parent_run_id, step, ordinal, child_run_id, goal,
                                        verify_file, needle, max_steps, deny_write, created_at)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
              {contract.parent_run_id, contract.step, contract.ordinal, contract.child_run_id,
               contract.goal, contract.verify_file, contract.needle, contract.max_steps,
               contract.deny_write, contract.created_at});
}

}  // namespace threadstore::state
