#include "threadstore/turns.h"

#include <nlohmann/json.hpp>

#include "state/runs/create.h"
#include "state/runs/event_log.h"
#include "state/runs/run_stop.h"
#include "state/threads/message_append.h"
#include "state/threads/view.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

std::vector<Run> list_turns(db::Session& session, const state::RunScope& scope,
                            const ThreadId& thread, MessageId trigger) {
  return session.all(state::select_runs + R"( AND r.thread_id = ?2 AND r.trigger_message_id = ?3
                                              ORDER BY r.created_at, r.id)",
                     {scope.workspace, thread, trigger},
                     [&](const db::Row& row) { return state::read_run(*scope.context, row); });
}

std::optional<Run> find_turn(db::Session& session, const state::RunScope& scope,
                             const ThreadId& thread, MessageId trigger) {
  std::vector<Run> runs = list_turns(session, scope, thread, trigger);
  return runs.empty() ? std::nullopt : std::optional(std::move(runs.back()));
}

/// Where the reply goes: under the turn's own last message, its trigger when nothing else is said.
AppendOptions reply_options(const Run& run, const TurnEnd& end) {
  AppendOptions options{.on_conflict = OnConflict::branch, .lease = end.thread_lease};
  const auto under = end.under ? end.under : run.trigger_message_id;
  if (under) options.expected_leaf = ExpectedLeaf{under};
  return options;
}

}  // namespace

Turn Turns::begin(const NewTurn& turn) {
  NewRun run = turn.run;
  run.thread_id = turn.thread;
  if (run.input.empty()) run.input = turn.message.content;
  state::check_new_run(run, scope_->most());
  const state::AppendCall call =
      state::prepare_append(*scope_->context, turn.thread, {&turn.message, 1}, turn.append);
  return scope_->write([&](db::Session& session) {
    Appended message = state::append_in(session, call).last;
    if (message.replayed) {
      if (auto known = find_turn(session, *scope_, turn.thread, message.id)) {
        return Turn{.run = *std::move(known), .message = std::move(message), .lease = {}};
      }
    }
    const RunId id = state::insert_run(session, *scope_, run, {.trigger = message.id});
    std::optional<Lease> lease;
    if (!turn.program.empty()) {
      lease = Leases(scope_->context).acquire(LeaseKind::run, id.str(), turn.program);
    }
    return Turn{.run = state::get_run(session, *scope_, id),
                .message = std::move(message),
                .lease = std::move(lease)};
  });
}

FinishedTurn Turns::finish(const RunId& run, const TurnEnd& end) {
  const state::RunStop stop = state::checked_stop(end.end, scope_->most());
  const Run before =
      scope_->read([&](db::Session& session) { return state::get_run(session, *scope_, run); });
  if (!before.thread_id) {
    state::throw_run_conflict("finish the turn of", run, "it belongs to no thread");
  }
  const AppendOptions options = reply_options(before, end);
  std::optional<state::AppendCall> call;
  if (!end.reply.empty()) {
    call.emplace(state::prepare_append(*scope_->context, *before.thread_id, end.reply, options));
  }
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "finish the turn of");
    FinishedTurn finished;
    if (call) {
      finished.reply = state::append_in(session, *call).last;
      session.run("UPDATE runs SET reply_message_id = ? WHERE id = ?", {finished.reply->id, run});
    }
    state::stop_tree(session, *scope_, head, stop, end.end.refuse_with_active_children,
                     scope_->now());
    finished.run = state::get_run(session, *scope_, run);
    return finished;
  });
}

HeldRun Turns::begin_for(const ThreadId& thread, MessageId trigger, const NewRun& run,
                         const std::string& program) {
  NewRun made = run;
  made.thread_id = thread;
  state::check_new_run(made, scope_->most());
  state::check_words(program, "the program's name", 1024);
  const auto path = state::path_to_judge(*scope_->context, thread, trigger);
  return scope_->write([&](db::Session& session) {
    const state::View view = state::open_view(session, thread);
    if (!state::shows(session, view, trigger, path.get())) {
      state::throw_no_message(thread, trigger);
    }
    const RunId id = state::insert_run(session, *scope_, made, {.trigger = trigger});
    Lease lease = Leases(scope_->context).acquire(LeaseKind::run, id.str(), program);
    return HeldRun{.run = state::get_run(session, *scope_, id), .lease = std::move(lease)};
  });
}

Run Turns::finish_with(const RunId& run, const RunEnd& end, std::optional<MessageId> reply) {
  const state::RunStop stop = state::checked_stop(end, scope_->most());
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "finish the turn of");
    session.run("UPDATE runs SET reply_message_id = ? WHERE id = ?", {reply, run});
    state::stop_tree(session, *scope_, head, stop, end.refuse_with_active_children, scope_->now());
    return state::get_run(session, *scope_, run);
  });
}

std::optional<Run> Turns::find(const ThreadId& thread, MessageId trigger) const {
  return scope_->read(
      [&](db::Session& session) { return find_turn(session, *scope_, thread, trigger); });
}

std::vector<Run> Turns::list(const ThreadId& thread, MessageId trigger) const {
  return scope_->read(
      [&](db::Session& session) { return list_turns(session, *scope_, thread, trigger); });
}

}  // namespace threadstore
