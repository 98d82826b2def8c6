#include <nlohmann/json.hpp>

#include "state/runs/create.h"
#include "state/runs/run_json.h"
#include "state/runs/spawn_record.h"
#include "threadstore/error.h"
#include "threadstore/run_tree.h"

// A child, its contract and its parent's event are one transaction: a crash leaves all or nothing,
// and a step that is driven again finds what it spawned.
namespace threadstore {
namespace {

std::optional<SpawnContract> find_contract(db::Session& session, const RunId& parent,
                                           std::int64_t step, std::int64_t ordinal) {
  return session.one(
      state::select_contracts + " WHERE parent_run_id = ?1 AND step = ?2 AND ordinal = ?3",
      {parent, step, ordinal}, state::read_contract);
}

void check_spawn(const NewSpawn& spawn, std::size_t most) {
  if (spawn.step < 0 || spawn.ordinal < 0 || spawn.max_steps.value_or(0) < 0) {
    throw Error(ErrorCode::invalid_argument,
                "step, ordinal and max_steps of a spawn must not be negative");
  }
  state::check_text_size(spawn.goal, "the goal", most);
  state::check_text_size(spawn.verify_file, "the file to verify", 4096);
  state::check_text_size(spawn.needle, "the needle", most);
  state::check_content(spawn.deny_write, "deny_write", most);
  if (!nlohmann::json::parse(spawn.deny_write).is_array()) {
    throw Error(ErrorCode::invalid_argument, "deny_write must be a JSON array");
  }
  state::check_max_depth(spawn.max_depth);
}

void refuse_other_goal(const SpawnContract& contract, const NewSpawn& spawn) {
  if (contract.goal == spawn.goal) return;
  throw Error(ErrorCode::conflict,
              "cannot spawn from step " + std::to_string(spawn.step) + " of run " +
                  spawn.parent.str() + ": its spawn " + std::to_string(spawn.ordinal) +
                  " made run " + contract.child_run_id.str() +
                  " for another goal; take a free ordinal",
              {{"run_id", spawn.parent.str()}, {"child_run_id", contract.child_run_id.str()}});
}

/// What the child does not say is as in its parent.
NewRun child_of(const Run& parent, const NewSpawn& spawn) {
  NewRun child = spawn.child;
  if (child.agent_name.empty()) child.agent_name = parent.agent_name;
  if (child.agent_version.empty()) child.agent_version = parent.agent_version;
  if (child.model.empty()) child.model = parent.model;
  if (!child.provider) child.provider = parent.provider;
  if (child.input.empty()) child.input = spawn.goal;
  if (!child.file) child.file = spawn.verify_file;
  child.key.reset();
  return child;
}

SpawnContract store_contract(db::Session& session, const NewSpawn& spawn, const RunId& child,
                             UnixMillis now) {
  SpawnContract contract{.parent_run_id = spawn.parent,
                         .step = spawn.step,
                         .ordinal = spawn.ordinal,
                         .child_run_id = child,
                         .goal = spawn.goal,
                         .verify_file = spawn.verify_file,
                         .needle = spawn.needle,
                         .max_steps = spawn.max_steps,
                         .deny_write = spawn.deny_write,
                         .created_at = now};
  state::insert_contract(session, contract);
  return contract;
}

}  // namespace

Spawned RunTree::spawn(const NewSpawn& spawn) {
  check_spawn(spawn, scope_->most());
  return scope_->write([&](db::Session& session) {
    const auto parent = state::require_run(session, *scope_, spawn.parent);
    if (auto known = find_contract(session, spawn.parent, spawn.step, spawn.ordinal)) {
      refuse_other_goal(*known, spawn);
      Run child = state::get_run(session, *scope_, known->child_run_id);
      return Spawned{.child = std::move(child), .contract = *std::move(known), .adopted = true};
    }
    state::require_active(session, *scope_, spawn.parent, "spawn from");
    state::refuse_deeper(parent, spawn.max_depth);
    const NewRun run = child_of(state::get_run(session, *scope_, spawn.parent), spawn);
    state::check_new_run(run, scope_->most());
    const RunId id =
        state::insert_run(session, *scope_, run,
                          {.parent = parent,
                           .place = state::SpawnPlace{
                               .step = spawn.step, .ordinal = spawn.ordinal, .goal = spawn.goal}});
    SpawnContract contract = store_contract(session, spawn, id, scope_->now());
    return Spawned{.child = state::get_run(session, *scope_, id), .contract = std::move(contract)};
  });
}

Run RunTree::start_child(const RunId& parent, const NewRun& child, std::int64_t max_depth) {
  state::check_new_run(child, scope_->most());
  state::check_max_depth(max_depth);
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, parent, "make a child of");
    state::refuse_deeper(head, max_depth);
    const RunId id = state::insert_run(session, *scope_, child, {.parent = head});
    return state::get_run(session, *scope_, id);
  });
}

std::optional<SpawnContract> RunTree::find(const RunId& parent, std::int64_t step,
                                           const std::string& goal) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, parent);
    return session.one(
        state::select_contracts +
            " WHERE parent_run_id = ?1 AND step = ?2 AND goal = ?3 ORDER BY created_at, ordinal",
        {parent, step, goal}, state::read_contract);
  });
}

std::optional<SpawnContract> RunTree::find(const RunId& parent, std::int64_t step,
                                           std::int64_t ordinal) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, parent);
    return find_contract(session, parent, step, ordinal);
  });
}

std::vector<SpawnContract> RunTree::spawns(const RunId& parent) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, parent);
    return session.all(state::select_contracts + " WHERE parent_run_id = ?1 ORDER BY step, ordinal",
                       {parent}, state::read_contract);
  });
}

}  // namespace threadstore
