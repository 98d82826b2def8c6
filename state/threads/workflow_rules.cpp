#include "state/threads/workflow_rules.h"

#include "base/json.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

/// "workflow_runs" is for SQL, "workflow run" for people.
std::string spoken(std::string table) {
  for (char& letter : table) {
    if (letter == '_') letter = ' ';
  }
  table.pop_back();
  return table;
}

bool has_row(db::Session& session, const std::string& table, const std::string& id) {
  return session.exists("SELECT 1 FROM " + table + " WHERE id = ?", {id});
}

void require_part_of(db::Session& session, const WorkflowRunId& run, const std::string& table,
                     const std::string& id) {
  const auto owner =
      session.value<std::string>("SELECT workflow_run_id FROM " + table + " WHERE id = ?", {id});
  if (!owner) throw Error(ErrorCode::not_found, "there is no " + spoken(table) + " " + id);
  if (*owner == run.str()) return;
  throw Error(ErrorCode::invalid_argument, spoken(table) + " " + id + " belongs to workflow run " +
                                               *owner + ", not to " + run.str());
}

}  // namespace

void require_text(const std::string& text, std::string_view field, std::string_view record) {
  check_text(text, std::string(field).c_str());
  if (!text.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(field) + " of a " + std::string(record) + " must not be empty");
}

void require_json(const std::optional<std::string>& json, std::string_view field,
                  std::string_view record) {
  if (json) base::check_json(*json, std::string(field) + " of a " + std::string(record));
}

void require_free_id(db::Session& session, const std::string& table, const std::string& id) {
  if (!has_row(session, table, id)) return;
  throw Error(ErrorCode::conflict, "there is a " + spoken(table) + " " + id + " already");
}

void require_run(db::Session& session, const WorkflowRunId& run) {
  if (has_row(session, "workflow_runs", run.str())) return;
  throw Error(ErrorCode::not_found, "there is no workflow run " + run.str());
}

void require_branch_of(db::Session& session, const WorkflowRunId& run, const BranchRunId& branch) {
  require_part_of(session, run, "branch_runs", branch.str());
}

void require_control_node_of(db::Session& session, const WorkflowRunId& run,
                             const ControlNodeRunId& node) {
  require_part_of(session, run, "control_node_runs", node.str());
}

void require_end(TraceStatus status) {
  if (status != TraceStatus::running) return;
  throw Error(ErrorCode::invalid_argument, "a record cannot be finished as 'running'");
}

void throw_not_finished(db::Session& session, const std::string& table, const std::string& id) {
  if (has_row(session, table, id)) {
    throw Error(ErrorCode::conflict, spoken(table) + " " + id + " was finished before");
  }
  throw Error(ErrorCode::not_found, "there is no " + spoken(table) + " " + id);
}

}  // namespace threadstore::state
