#include "state/runs/create.h"
#include "state/runs/event_log.h"
#include "state/runs/import_mark.h"
#include "state/runs/run_usage.h"
#include "state/transfer/run_rows.h"
#include "state/transfer/trace_import.h"
#include "threadstore/error.h"
#include "threadstore/transfer.h"

// Runs of other stores: what is there is left, what is new is added.
namespace threadstore {
namespace {

using state::RunScope;

/// The workspace that a run lies in, when it is there.
std::optional<std::string> workspace_of(db::Session& session, const RunId& run) {
  return session.value<std::string>("SELECT workspace_id FROM runs WHERE id = ?", {run});
}

/// The row and the first event. They are there when this returns.
void make_run(db::Session& session, const RunScope& scope, const ForeignTrace& trace) {
  NewRun run = trace.run;
  run.key.reset();
  run.thread_id.reset();
  state::check_new_run(run, scope.most());
  state::RunOrigin origin{.id = trace.id, .at = trace.started_at.value_or(scope.now())};
  if (trace.parent) {
    origin.parent = state::require_run(session, scope, *trace.parent);
    state::refuse_deeper(*origin.parent, 64);
  }
  state::insert_run(session, scope, run, origin);
  session.run("UPDATE runs SET origin_source = ?, origin_id = ? WHERE id = ?",
              {trace.origin_source, trace.origin_id, trace.id});
  state::mark_imported(session, trace.id);
}

}  // namespace

TakenRun Transfer::take_trace(const ForeignTrace& trace, bool dry_run) {
  const auto scope_in = [&](db::Session& session) {
    return RunScope{.context = context_,
                    .workspace = workspace_of(session, trace.id).value_or(trace.workspace_id)};
  };
  const auto look = [&](db::Session& session, const RunScope& scope) {
    return state::known_of(session, scope, trace);
  };
  const auto answer = [&](const state::TraceKnown& known) {
    TakenRun taken = state::count_new(trace, known);
    if (!known.went_on) return taken;
    return TakenRun{.went_on = taken.grown};
  };
  // Most runs of a source that is imported again are as they were, which needs no write lock.
  const auto known =
      context_->read([&](db::Session& session) { return look(session, scope_in(session)); });
  const TakenRun expected = answer(known);
  if (dry_run || (known.there && !expected.grown)) return expected;
  return context_->write([&](db::Session& session) {
    const RunScope scope = scope_in(session);
    auto now_known = look(session, scope);
    if (now_known.went_on) return answer(now_known);
    const bool created = !now_known.there;
    if (created) make_run(session, scope, trace);
    TakenRun taken = state::add_to_trace(session, scope, trace, now_known);
    taken.created = created;
    if (created) ++taken.events;
    return taken;
  });
}

namespace {

/// Whether the events begin with those that the store has, but for the mark in the first.
bool begin_alike(db::Session& session, const RunId& run, const std::vector<RunEvent>& events) {
  bool alike = true;
  std::size_t count = 0;
  session.each(
      "SELECT sequence, timestamp, event_type FROM run_events WHERE run_id = ?"
      " ORDER BY sequence",
      {run}, [&](const db::Row& row) {
        alike = count < events.size() && events[count].sequence == row.integer(0) &&
                events[count].timestamp == row.integer(1) &&
                events[count].event_type == row.view(2);
        ++count;
        return alike;
      });
  return alike;
}

TakenRun compare(db::Session& session, const RunId& run, const std::vector<RunEvent>& events) {
  const auto last =
      session.value<std::int64_t>("SELECT last_sequence FROM runs WHERE id = ?", {run});
  if (!last) return {.created = true, .events = static_cast<std::int64_t>(events.size())};
  const std::int64_t more = static_cast<std::int64_t>(events.size()) - *last;
  if (more == 0) return {};
  if (more < 0 || !begin_alike(session, run, events)) return {.went_on = true};
  return {.grown = true, .events = more};
}

state::ImportedState state_of(const RunRecord& record) {
  return {.lifecycle = record.run.lifecycle,
          .outcome = record.run.outcome,
          .reason_code = record.run.reason_code,
          .outcome_text = record.run.outcome_text,
          .provider = record.run.provider,
          .own_usage = state::usage_without(record.run.usage, record.usage_below),
          .charges = record.usage_below};
}

}  // namespace

TakenRun Transfer::take_run(const RunRecord& record, const std::vector<RunEvent>& events,
                            bool dry_run) {
  const RunId& run = record.run.id;
  const auto look = [&](db::Session& session) { return compare(session, run, events); };
  const TakenRun expected = context_->read(look);
  if (dry_run || (!expected.created && !expected.grown)) return expected;
  return context_->write([&](db::Session& session) {
    const TakenRun taken = look(session);
    if (taken.created) {
      if (!put_run(record, events)) return TakenRun{};
    } else if (taken.grown) {
      state::grow_run(session, record, events);
    } else {
      return taken;
    }
    state::mark_imported(session, run, state_of(record));
    // What the log tells of calls, approvals and artifacts becomes their rows.
    StateStore(context_).runs(record.run.workspace_id).projections().rebuild(run);
    return taken;
  });
}

}  // namespace threadstore
