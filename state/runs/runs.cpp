#include "threadstore/runs.h"

#include <nlohmann/json.hpp>

#include "state/runs/event_log.h"
#include "state/runs/run_record.h"
#include "state/threads/keyset_cursor.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using state::RunScope;

std::vector<Run> read_runs(db::Session& session, const RunScope& scope, const std::string& rest,
                           db::Values values) {
  return session.all(state::select_runs + rest, values,
                     [&](const db::Row& row) { return state::read_run(*scope.context, row); });
}

}  // namespace

Runs::Runs(std::shared_ptr<state::StoreContext> context, std::string workspace) {
  state::check_words(workspace, "the workspace", 4096);
  scope_ = std::make_shared<const RunScope>(
      RunScope{.context = std::move(context), .workspace = std::move(workspace)});
}

Runs Runs::holding(const RunId& run, const LeaseToken& lease) const {
  RunScope scope = *scope_;
  scope.held = RunScope::Held{.run = run, .token = lease};
  return Runs(std::make_shared<const RunScope>(std::move(scope)));
}

const std::string& Runs::workspace() const noexcept { return scope_->workspace; }

std::optional<Run> Runs::find(const RunId& run) const {
  return scope_->read([&](db::Session& session) -> std::optional<Run> {
    auto found = read_runs(session, *scope_, " AND r.id = ?2", {scope_->workspace, run});
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
  });
}

Run Runs::get(const RunId& run) const {
  return scope_->read([&](db::Session& session) { return state::get_run(session, *scope_, run); });
}

std::vector<Run> Runs::find_by_id_part(const std::string& part, std::size_t limit) const {
  state::check_limit(limit);
  state::check_words(part, "the part of an id", 1024);
  return scope_->read([&](db::Session& session) {
    return read_runs(session, *scope_,
                     R"( AND ((r.id >= ?2 AND r.id < ?3) OR substr(r.id, -length(?2)) = ?2)
                         ORDER BY r.created_at DESC, r.id LIMIT ?4)",
                     {scope_->workspace, part, state::after_prefix(part), limit});
  });
}

Page<Run> Runs::list(const RunFilter& filter) const {
  state::check_limit(filter.limit);
  const state::KeysetCursor after = state::KeysetCursor::parse(filter.after);
  std::string sql =
      state::select_runs + " AND (r.created_at < ?2 OR (r.created_at = ?2 AND r.id > ?3))";
  // A lifecycle stands in the text, so that the partial index of active runs is found.
  const bool active = filter.interrupted_only || filter.lifecycle == RunLifecycle::active;
  sql += active             ? " AND r.lifecycle = 'active' AND ?4 IS ?4"
         : filter.lifecycle ? " AND r.lifecycle = ?4"
                            : " AND ?4 IS NULL";
  sql += filter.outcome ? " AND r.outcome = ?5" : " AND ?5 IS NULL";
  sql += filter.thread ? " AND r.thread_id = ?6" : " AND ?6 IS NULL";
  sql += filter.agent_name ? " AND r.agent_name = ?7" : " AND ?7 IS NULL";
  sql += filter.created_since ? " AND r.created_at >= ?8" : " AND ?8 IS NULL";
  sql += filter.created_until ? " AND r.created_at < ?9" : " AND ?9 IS NULL";
  if (filter.roots_only) sql += " AND r.parent_run_id IS NULL";
  sql += " ORDER BY r.created_at DESC, r.id";
  return scope_->read([&](db::Session& session) {
    Page<Run> page;
    session.each(sql,
                 {scope_->workspace, after.at, after.id, filter.lifecycle, filter.outcome,
                  filter.thread, filter.agent_name, filter.created_since, filter.created_until},
                 [&](const db::Row& row) {
                   Run run = state::read_run(*scope_->context, row);
                   if (filter.interrupted_only && !run.interrupted) return true;
                   if (page.items.size() == filter.limit) {
                     const Run& last = page.items.back();
                     page.next = state::KeysetCursor{last.created_at, 0, last.id.str()}.str();
                     return false;
                   }
                   page.items.push_back(std::move(run));
                   return true;
                 });
    return page;
  });
}

RunLineage Runs::lineage(const RunId& run) const {
  return scope_->read(
      [&](db::Session& session) { return state::require_run(session, *scope_, run).lineage; });
}

std::vector<Run> Runs::children(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return read_runs(session, *scope_, " AND r.parent_run_id = ?2 ORDER BY r.created_at, r.id",
                     {scope_->workspace, run});
  });
}

RecoveryDisposition Runs::recovery_disposition(const RunId& run) const {
  return get(run).recovery_disposition;
}

Run Runs::set_provider(const RunId& run, const std::string& provider) {
  state::check_words(provider, "the provider", 1024);
  return scope_->write([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    session.run("UPDATE runs SET provider = ? WHERE id = ?", {provider, run});
    state::append_event(session, run, "run.provider_set", {{"provider", provider}}, scope_->now());
    return state::get_run(session, *scope_, run);
  });
}

std::int64_t Runs::detach(const ThreadId& thread) {
  return scope_->write([&](db::Session& session) {
    return session.run(R"(UPDATE runs SET thread_id = NULL, trigger_message_id = NULL,
                                          reply_message_id = NULL
                          WHERE workspace_id = ? AND thread_id = ?)",
                       {scope_->workspace, thread});
  });
}

}  // namespace threadstore
