#pragma once

#include <string>

#include "state/runs/run_record.h"
#include "threadstore/run_tree.h"

namespace threadstore::state {

/// `SELECT … FROM run_spawns`: append " WHERE …".
extern const std::string select_contracts;
SpawnContract read_contract(const db::Row& row);
void insert_contract(db::Session& session, const SpawnContract& contract);

}  // namespace threadstore::state
