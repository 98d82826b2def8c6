#include "exchange/context_harness.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.h"
#include "exchange/context_run.h"

namespace threadstore::exchange {
namespace {

class ContextHarness {
 public:
  ContextHarness(db::Session& session, RunImport& job)
      : session_(session), job_(job), lineage_(session, "agent_run_lineage"), runs_(session, job) {}

  void read() {
    find_runs();
    runs_.note_unknown();
    note_tables();
    job_.expect(static_cast<std::int64_t>(order_.size()));
    for (const std::string& id : parents_first(order_, parents_, job_, name_of)) {
      job_.take(name_of(id), [&] { return take(id); });
    }
  }

 private:
  static std::string name_of(const std::string& run) { return "run " + run; }

  void find_runs() {
    session_.each("SELECT id FROM agent_runs ORDER BY created_at, id", {},
                  [&](const db::Row& row) { order_.push_back(row.text(0)); });
    const std::string first = order_.empty() ? "" : order_.front();
    job_.report().fingerprint = "context-harness:" + base::sha256_of_text(first).substr(0, 16);
    if (!lineage_.there()) return;
    session_.each(lineage_.select({{"run_id"}, {"parent_run_id"}, {"parent_call_id"}}) +
                      " WHERE parent_run_id IS NOT NULL",
                  {}, [&](const db::Row& row) {
                    parents_[row.text(0)] = row.text(1);
                    if (!row.is_null(2)) calls_[row.text(0)] = row.get<CallId>(2);
                  });
  }

  /// Other tables are the application's own, but for those that runs would belong to.
  void note_tables() {
    const std::set<std::string> known{
        "agent_runs",        "agent_events",          "agent_checkpoints",
        "agent_run_lineage", "agent_run_suspensions", "agent_run_working_state"};
    for (const std::string& table :
         session_.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", {},
                      [](const db::Row& row) { return row.text(0); })) {
      if (table.starts_with("agent_") && known.count(table) == 0) {
        job_.note("table " + table, "it holds no part of a run; it was left out");
      }
    }
  }

  TakenRun take(const std::string& id) {
    ContextRuns::Loaded loaded = runs_.load(id);
    Run& run = loaded.record.run;
    if (const auto parent = parents_.find(id); parent != parents_.end()) {
      const RunLineage& above = lineages_[parent->second];
      const auto call = calls_.find(id);
      run.lineage = {.root_run_id = above.root_run_id,
                     .parent_run_id = RunId(parent->second),
                     .depth = above.depth + 1};
      if (call != calls_.end()) run.lineage.parent_call_id = call->second;
    }
    lineages_[id] = run.lineage;
    loaded.record.usage_below = used_below(id, run.usage);
    const TakenRun taken =
        job_.transfer().take_run(loaded.record, loaded.events, job_.options().dry_run);
    if (taken.created || taken.grown) count(loaded, taken.events);
    return taken;
  }

  /// Runs below were charged to it, as far as its own counters go.
  RunUsage used_below(const std::string& id, const RunUsage& whole) {
    if (!lineage_.there()) return {};
    RunUsage below;
    session_.each(
        "SELECT r.usage FROM agent_run_lineage AS l JOIN agent_runs AS r"
        " ON r.id = l.run_id WHERE l.parent_run_id = ?",
        {id},
        [&](const db::Row& row) { below = sum(below, read_context_usage(row.view(0)), whole); });
    return below;
  }

  static std::int64_t bounded(std::int64_t one, std::int64_t other, std::int64_t most) {
    return one >= most || other >= most - one ? most : one + other;
  }
  static std::optional<std::int64_t> bounded(std::optional<std::int64_t> one,
                                             std::optional<std::int64_t> other,
                                             std::optional<std::int64_t> most) {
    if (!one && !other) return std::nullopt;
    return bounded(one.value_or(0), other.value_or(0), most.value_or(0));
  }
  static RunUsage sum(const RunUsage& one, const RunUsage& other, const RunUsage& most) {
    return {.model_turns = bounded(one.model_turns, other.model_turns, most.model_turns),
            .input_tokens = bounded(one.input_tokens, other.input_tokens, most.input_tokens),
            .output_tokens = bounded(one.output_tokens, other.output_tokens, most.output_tokens),
            .total_tokens = bounded(one.total_tokens, other.total_tokens, most.total_tokens),
            .responses_with_usage = bounded(one.responses_with_usage, other.responses_with_usage,
                                            most.responses_with_usage),
            .responses_without_usage =
                bounded(one.responses_without_usage, other.responses_without_usage,
                        most.responses_without_usage),
            .tool_calls = bounded(one.tool_calls, other.tool_calls, most.tool_calls)};
  }

  /// What the new events of a run brought.
  void count(const ContextRuns::Loaded& loaded, std::int64_t fresh) {
    ImportedRuns& imported = job_.report().imported;
    const auto first = static_cast<std::int64_t>(loaded.events.size()) - fresh;
    for (const RunEvent& event : loaded.events) {
      if (event.sequence <= first) continue;
      imported.calls += event.event_type == "tool.requested" ? 1 : 0;
      imported.approvals += event.event_type == "approval.requested" ? 1 : 0;
      imported.artifacts += event.event_type == "artifact.created" ? 1 : 0;
    }
    for (const RunCheckpoint& one : loaded.record.checkpoints) {
      imported.checkpoints += one.sequence > first ? 1 : 0;
    }
    for (const RunSuspension& one : loaded.record.suspensions) {
      imported.suspensions += one.sequence > first ? 1 : 0;
    }
  }

  db::Session& session_;
  RunImport& job_;
  const ForeignTable lineage_;
  ContextRuns runs_;
  std::vector<std::string> order_{};
  std::map<std::string, std::string> parents_{};
  std::map<std::string, CallId> calls_{};  ///< of the parents, that made the runs
  std::map<std::string, RunLineage> lineages_{};
};

}  // namespace

bool is_context_harness(db::Session& session) {
  const ForeignTable runs(session, "agent_runs"), events(session, "agent_events");
  return runs.has("workspace_id") && runs.has("agent_name") && events.has("event_type") &&
         events.has("sequence");
}

void read_context_harness(db::Session& session, RunImport& job) {
  ContextHarness(session, job).read();
}

}  // namespace threadstore::exchange
