#include <nlohmann/json.hpp>

#include "state/runs/request_record.h"
#include "state/runs/run_json.h"
#include "state/threads/keyset_cursor.h"
#include "state/threads/message_key.h"
#include "threadstore/error.h"
#include "threadstore/run_requests.h"

namespace threadstore {
namespace {

void check_request(const NewRequest& request, std::size_t most) {
  if (request.step < 0) {
    throw Error(ErrorCode::invalid_argument,
                "a step must not be negative, and is " + std::to_string(request.step));
  }
  state::check_words(request.act, "the act", 1024);
  state::check_text_size(request.target, "the target", 65'536);
  if (request.content) state::check_text_size(*request.content, "the content", most);
  if (request.key) state::check_key(*request.key);
}

/// The request that the key made, when it was for the same; its decision comes with it.
std::optional<DeferredApproval> find_replay(db::Session& session, const state::RunScope& scope,
                                            const RunId& run, const NewRequest& request) {
  if (!request.key) return std::nullopt;
  auto known = session.one(state::select_requests + " AND a.run_id = ?2 AND a.request_key = ?3",
                           {scope.workspace, run, *request.key}, state::read_request);
  if (!known) return std::nullopt;
  if (known->step == request.step && known->act == request.act && known->target == request.target &&
      known->content == request.content) {
    return known;
  }
  throw Error(ErrorCode::conflict,
              "the key '" + *request.key + "' of run " + run.str() +
                  " was used for another request, " + std::to_string(to_int(known->request_id)) +
                  "; use a new key for a new request",
              {{"run_id", run.str()}, {"request_id", to_int(known->request_id)}});
}

[[noreturn]] void throw_decided(const DeferredApproval& request) {
  const std::string by = request.decided_by ? " by " + *request.decided_by : std::string();
  throw Error(ErrorCode::conflict,
              "request " + std::to_string(to_int(request.request_id)) + " of run " +
                  request.run_id.str() + " was " + std::string(to_word(*request.decision)) + by +
                  " already",
              {{"run_id", request.run_id.str()},
               {"request_id", to_int(request.request_id)},
               {"decision", to_word(*request.decision)},
               {"decided_by",
                request.decided_by ? nlohmann::json(*request.decided_by) : nlohmann::json(nullptr)},
               {"decided_at", request.decided_at.value_or(0)}});
}

}  // namespace

DeferredApproval RunRequests::put(const RunId& run, const NewRequest& request) {
  check_request(request, scope_->most());
  return scope_->write([&](db::Session& session) {
    const auto head = state::require_active(session, *scope_, run, "ask for an approval of");
    if (auto known = find_replay(session, *scope_, run, request)) return *std::move(known);
    const RequestId id = state::insert_request(session, head, request, std::nullopt, scope_->now());
    return state::get_request(session, *scope_, id);
  });
}

DeferredApproval RunRequests::decide(RequestId request, const Decision& decision) {
  state::check_decision(decision);
  return scope_->write([&](db::Session& session) {
    DeferredApproval found = state::get_request(session, *scope_, request);
    if (!state::decide_request(session, *scope_, found, decision)) throw_decided(found);
    return found;
  });
}

std::optional<DeferredApproval> RunRequests::find(RequestId request) const {
  return scope_->read(
      [&](db::Session& session) { return state::find_request(session, *scope_, request); });
}

DeferredApproval RunRequests::get(RequestId request) const {
  return scope_->read(
      [&](db::Session& session) { return state::get_request(session, *scope_, request); });
}

std::vector<DeferredApproval> RunRequests::list(const RunId& run) const {
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(state::select_requests + " AND a.run_id = ?2 ORDER BY a.request_id",
                       {scope_->workspace, run}, state::read_request);
  });
}

std::vector<DeferredApproval> RunRequests::pending(const RunId& run, std::size_t limit) const {
  state::check_limit(limit);
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(
        state::select_requests +
            " AND a.run_id = ?2 AND a.decision IS NULL ORDER BY a.request_id LIMIT ?3",
        {scope_->workspace, run, limit}, state::read_request);
  });
}

std::vector<DeferredApproval> RunRequests::pending(std::size_t limit) const {
  state::check_limit(limit);
  return scope_->read([&](db::Session& session) {
    return session.all(state::select_requests +
                           " AND a.decision IS NULL ORDER BY a.requested_at, a.request_id LIMIT ?2",
                       {scope_->workspace, limit}, state::read_request);
  });
}

}  // namespace threadstore
