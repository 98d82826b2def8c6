#include "exchange/io_harness_lists.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace threadstore::exchange {
namespace {

using Column = ForeignTable::Column;
using Text = std::optional<std::string>;
using Unknown = ForeignTrace::Unknown;

const std::vector<Column> kPolicy{{"id"},       {"run_id"}, {"step"},     {"kind"},
                                  {"act"},      {"target"}, {"rule"},     {"layer"},
                                  {"decision"}, {"source"}, {"performed"}};
const std::vector<Column> kRequests{{"id"},     {"run_id"},  {"step"},    {"act"},
                                    {"target"}, {"content"}, {"resolved"}};
const std::vector<Column> kAgents{{"id"},           {"run_id"}, {"step"},   {"kind"},
                                  {"child_run_id"}, {"detail"}, {"tokens"}, {"remaining"}};
const std::vector<Column> kSandbox{{"id"}, {"run_id"}, {"step"}, {"kind"}, {"backend"}, {"detail"}};
const std::vector<Column> kSpawns{{"id"},           {"parent_run_id"}, {"step"},
                                  {"child_run_id"}, {"goal"},          {"verify_file"},
                                  {"needle"},       {"max_steps"},     {"deny_write", "'[]'"}};

/// The row as an event of our own log.
Unknown unknown_row(const std::string& list, const std::vector<Column>& columns,
                    const db::Row& row) {
  nlohmann::ordered_json payload;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int column = static_cast<int>(i);
    if (row.is_null(column)) continue;
    if (row.is_integer(column)) {
      payload[columns[i].name] = row.integer(column);
    } else {
      payload[columns[i].name] = to_valid_utf8(row.view(column));
    }
  }
  return {.step = step_of(row, 2), .type = "imported." + list, .payload = payload.dump()};
}

}  // namespace

IoHarnessLists::IoHarnessLists(db::Session& session, RunImport& job, const RunIds& runs)
    : session_(session),
      job_(job),
      runs_(runs),
      steps_table_(session, "steps"),
      policy_table_(session, "policy_events"),
      requests_table_(session, "pending_approvals"),
      agent_table_(session, "agent_events"),
      sandbox_table_(session, "sandbox_events"),
      marks_table_(session, "checkpoint_events"),
      spawns_table_(session, "spawns") {
  note_step_columns();
  const std::pair<const ForeignTable*, const std::vector<Column>*> tables[]{
      {&policy_table_, &kPolicy},
      {&requests_table_, &kRequests},
      {&agent_table_, &kAgents},
      {&sandbox_table_, &kSandbox},
      {&spawns_table_, &kSpawns}};
  for (const auto& [table, columns] : tables) table->note_others(*columns, job_);
  find_steps();
  policy_ = find_rows(policy_table_);
  requests_ = find_rows(requests_table_);
  agents_ = find_rows(agent_table_);
  sandbox_ = find_rows(sandbox_table_);
  marks_ = find_rows(marks_table_);
  find_contracts();
}

void IoHarnessLists::note_orphans(const std::string& table, std::int64_t run, std::size_t rows) {
  if (runs_.count(run) != 0) return;
  job_.note("table " + table, std::to_string(rows) + " rows are of run " + std::to_string(run) +
                                  ", which is not there; they were left out");
}

IoHarnessLists::Rows IoHarnessLists::find_rows(const ForeignTable& table) {
  Rows rows;
  if (!table.there()) return rows;
  session_.each("SELECT run_id, id FROM \"" + table.name() + "\" ORDER BY id", {},
                [&](const db::Row& row) { rows[row.integer(0)].push_back(row.integer(1)); });
  for (const auto& [run, ids] : rows) note_orphans(table.name(), run, ids.size());
  return rows;
}

/// The place of a spawn in its step is how many the step had before.
void IoHarnessLists::find_contracts() {
  if (!spawns_table_.there() || !agent_table_.there()) return;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places;
  session_.each("SELECT id, parent_run_id, step, child_run_id FROM spawns ORDER BY id", {},
                [&](const db::Row& row) {
                  const std::int64_t parent = row.integer(1), step = step_of(row, 2);
                  const Contract contract{row.integer(0), parent, step, places[{parent, step}]++};
                  if (!contracts_.emplace(row.integer(3), contract).second) {
                    job_.note(place_of(parent, "spawn", row.integer(0)),
                              "another spawn made its child; it was left out");
                  }
                });
  for (const auto& [child, contract] : contracts_) note_orphans("spawns", child, 1);
  session_.each("SELECT run_id, step, child_run_id FROM agent_events WHERE kind = 'spawn'", {},
                [&](const db::Row& row) {
                  spawned_.emplace(row.integer(0), step_of(row, 1), row.integer(2));
                });
}

void IoHarnessLists::each(const std::string& sql, const Rows& rows, std::int64_t run,
                          const std::function<void(const db::Row&)>& visit) {
  const auto found = rows.find(run);
  if (found == rows.end()) return;
  for (const std::int64_t row : found->second) session_.each(sql + " WHERE id = ?", {row}, visit);
}

void IoHarnessLists::fill(std::int64_t run, ForeignTrace& trace, bool marked) {
  const auto committed = add_marks(run, trace);
  add_steps(run, trace, marked ? std::optional(committed) : std::nullopt);
  add_policy(run, trace);
  add_delegation(run, trace);
  add_sandbox(run, trace);
  add_requests(run, trace);
  add_contract(run, trace);
}

void IoHarnessLists::add_policy(std::int64_t run, ForeignTrace& trace) {
  each(policy_table_.select(kPolicy), policy_, run, [&](const db::Row& row) {
    const std::string where = place_of(run, "policy event", row.integer(0));
    const auto kind = from_word<PolicyKind>(row.view(3));
    if (!kind) {
      job_.note(where, "its kind is not known; it was kept as an event imported.policy");
      trace.policy.emplace_back(unknown_row("policy", kPolicy, row));
      return;
    }
    const auto text = [&](int column) {
      return row.is_null(column) ? Text() : Text(job_.text(where, row.view(column)));
    };
    trace.policy.emplace_back(PolicyEvent{.step = step_of(row, 2),
                                          .kind = *kind,
                                          .act = text(4).value_or(""),
                                          .target = text(5).value_or(""),
                                          .rule = text(6),
                                          .layer = text(7),
                                          .decision = text(8),
                                          .source = text(9),
                                          .performed = text(10)});
  });
}

RunId IoHarnessLists::child_id(std::int64_t run, std::int64_t child) {
  const auto found = runs_.find(child);
  if (found != runs_.end()) return found->second;
  job_.note(run_name(run), "it spawned run " + std::to_string(child) +
                               ", which is not there; the event keeps its number");
  return RunId(std::to_string(child));
}

void IoHarnessLists::add_delegation(std::int64_t run, ForeignTrace& trace) {
  using Number = std::optional<std::int64_t>;
  each(agent_table_.select(kAgents), agents_, run, [&](const db::Row& row) {
    const std::string where = place_of(run, "agent event", row.integer(0));
    const auto kind = from_word<DelegationKind>(row.view(3));
    if (!kind || *kind == DelegationKind::spawn_finished) {
      job_.note(where, "its kind is not known; it was kept as an event imported.delegation");
      trace.delegation.emplace_back(unknown_row("delegation", kAgents, row));
      return;
    }
    ForeignTrace::Delegation one{.event = {.step = step_of(row, 2),
                                           .kind = *kind,
                                           .tokens = row.get<Number>(6),
                                           .remaining = row.get<Number>(7)}};
    if (!row.is_null(5)) one.event.detail = job_.text(where, row.view(5));
    if (!row.is_null(4)) {
      const std::int64_t child = row.integer(4);
      one.event.child_run_id = child_id(run, child);
      const auto contract = contracts_.find(child);
      if (*kind == DelegationKind::spawn && contract != contracts_.end() &&
          contract->second.parent == run && contract->second.step == one.event.step) {
        one.ordinal = contract->second.ordinal;
      }
    }
    trace.delegation.emplace_back(std::move(one));
  });
}

void IoHarnessLists::add_sandbox(std::int64_t run, ForeignTrace& trace) {
  each(sandbox_table_.select(kSandbox), sandbox_, run, [&](const db::Row& row) {
    const std::string where = place_of(run, "sandbox event", row.integer(0));
    const auto kind = from_word<SandboxKind>(row.view(3));
    if (!kind) {
      job_.note(where, "its kind is not known; it was kept as an event imported.sandbox");
      trace.sandbox.emplace_back(unknown_row("sandbox", kSandbox, row));
      return;
    }
    SandboxEvent one{.step = step_of(row, 2), .kind = *kind};
    if (!row.is_null(4)) one.backend = job_.text(where, row.view(4));
    if (!row.is_null(5)) one.detail = job_.text(where, row.view(5));
    trace.sandbox.emplace_back(std::move(one));
  });
}

void IoHarnessLists::add_requests(std::int64_t run, ForeignTrace& trace) {
  each(requests_table_.select(kRequests), requests_, run, [&](const db::Row& row) {
    const std::string where = place_of(run, "pending approval", row.integer(0));
    DeferredApproval one{.step = step_of(row, 2),
                         .act = job_.text(where, row.view(3)),
                         .target = job_.text(where, row.view(4)),
                         .origin_id = std::to_string(row.integer(0))};
    if (!row.is_null(5)) one.content = job_.text(where, row.view(5));
    const std::string resolved = row.text(6);
    if (resolved == "approve") one.decision = ApprovalDecision::granted;
    if (resolved == "deny") one.decision = ApprovalDecision::denied;
    if (!one.decision && !resolved.empty() && resolved != "defer") {
      job_.note(where, "its decision '" + to_valid_utf8(resolved) +
                           "' is not known; it counts as undecided");
    }
    trace.requests.push_back(std::move(one));
  });
}

void IoHarnessLists::add_contract(std::int64_t run, ForeignTrace& trace) {
  const auto found = contracts_.find(run);
  if (found == contracts_.end()) return;
  const Contract& place = found->second;
  const std::string where = place_of(run, "spawn", place.row);
  const auto parent = runs_.find(place.parent);
  if (parent == runs_.end() || trace.parent != parent->second) {
    return job_.note(where, "its parent is not that of the run; the contract was left out");
  }
  const bool told = spawned_.count({place.parent, place.step, run}) != 0;
  if (!told) return job_.note(where, "its parent does not tell of it; the contract was left out");
  session_.each(spawns_table_.select(kSpawns) + " WHERE id = ?", {place.row},
                [&](const db::Row& row) {
                  SpawnContract contract{.parent_run_id = parent->second,
                                         .step = place.step,
                                         .ordinal = place.ordinal,
                                         .goal = job_.text(where, row.view(4)),
                                         .verify_file = job_.text(where, row.view(5)),
                                         .needle = job_.text(where, row.view(6)),
                                         .max_steps = row.get<std::optional<std::int64_t>>(7),
                                         .deny_write = job_.json(where, row.view(8))};
                  trace.spawned_for = std::move(contract);
                });
}

}  // namespace threadstore::exchange
