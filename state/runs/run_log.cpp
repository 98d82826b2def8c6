#include "threadstore/run_log.h"

#include <array>

#include "state/runs/event_log.h"
#include "state/threads/keyset_cursor.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using state::RunScope;

constexpr std::array kReservedPrefixes{"run.",      "checkpoint.", "tool.", "approval.",
                                       "artifact.", "delegation.", "step.", "policy.",
                                       "sandbox.",  "budget."};
constexpr std::array kReservedTypes{"model.requested", "model.responded"};

void check_own_type(const std::string& type) {
  state::check_words(type, "the event type", 200);
  const auto refuse = [&](const char* reserved) {
    throw Error(ErrorCode::invalid_argument, "the event type '" + type + "' is the store's own (" +
                                                 reserved + "); use another, such as note." +
                                                 type.substr(type.find('.') + 1));
  };
  for (const char* prefix : kReservedPrefixes) {
    if (type.starts_with(prefix)) refuse(prefix);
  }
  for (const char* reserved : kReservedTypes) {
    if (type == reserved) refuse(reserved);
  }
}

const std::string kSelect = std::string("SELECT ") + state::event_columns + " FROM run_events AS e";

}  // namespace

std::int64_t RunLog::append(const RunId& run, const std::string& type, const std::string& payload) {
  check_own_type(type);
  state::check_content(payload, "the payload", scope_->most());
  return scope_->write_shared(payload.size(), [&](db::Session& session) {
    state::require_active(session, *scope_, run, "append to");
    return state::append_event_text(session, run, type, payload, scope_->now());
  });
}

std::vector<RunEvent> RunLog::list(const RunId& run, std::int64_t after, std::size_t limit) const {
  state::check_limit(limit);
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    return session.all(
        kSelect + " WHERE e.run_id = ? AND e.sequence > ? ORDER BY e.sequence LIMIT ?",
        {run, after, limit}, state::read_event);
  });
}

std::vector<RunEvent> RunLog::list_of_type(const RunId& run, const std::string& type,
                                           std::int64_t after, std::size_t limit) const {
  state::check_limit(limit);
  state::check_words(type, "the event type", 200);
  const bool is_prefix = type.back() == '.';
  return scope_->read([&](db::Session& session) {
    state::require_run(session, *scope_, run);
    if (!is_prefix) {
      return session.all(kSelect +
                             " WHERE e.run_id = ? AND e.event_type = ? AND e.sequence > ?"
                             " ORDER BY e.sequence LIMIT ?",
                         {run, type, after, limit}, state::read_event);
    }
    return session.all(kSelect +
                           " WHERE e.run_id = ? AND e.event_type >= ? AND e.event_type < ?"
                           " AND e.sequence > ? ORDER BY e.sequence LIMIT ?",
                       {run, type, state::after_prefix(type), after, limit}, state::read_event);
  });
}

std::vector<RunEvent> RunLog::since(std::int64_t gid, std::size_t limit) const {
  state::check_limit(limit);
  return scope_->read([&](db::Session& session) {
    return session.all(state::events_since_sql, {gid, scope_->workspace, limit}, state::read_event);
  });
}

std::int64_t RunLog::newest_gid() const {
  return scope_->read([](db::Session& session) {
    return session.value<std::optional<std::int64_t>>("SELECT max(gid) FROM run_events")
        .value_or(std::nullopt)
        .value_or(0);
  });
}

}  // namespace threadstore
