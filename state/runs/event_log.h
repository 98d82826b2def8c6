#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "state/runs/run_json.h"
#include "state/runs/run_record.h"
#include "threadstore/run_log.h"

namespace threadstore::state {

/// Every event goes through here, inside the transaction of the change that it tells of, after the
/// run's row says how things stand now: takes the next sequence, stores the event and brings the
/// working state up to date. Costs the same however long the log is. Returns the sequence.
std::int64_t append_event(db::Session& session, const RunId& run, std::string_view type,
                          const Payload& payload, UnixMillis now);
/// The same with a payload that is JSON text already.
std::int64_t append_event_text(db::Session& session, const RunId& run, std::string_view type,
                               std::string_view payload, UnixMillis now);

/// The columns that `read_event` reads, of the table `run_events AS e`.
inline constexpr const char* event_columns =
    "e.gid, e.run_id, e.sequence, e.timestamp, e.event_type, e.payload";
RunEvent read_event(const db::Row& row);

/// The events behind a cursor of a workspace's runs, walked in their order from there: what lies
/// before it costs nothing, and nothing is sorted.
extern const std::string events_since_sql;

/// The smallest text above every text with that prefix: for ranges over an index.
std::string after_prefix(std::string prefix);

}  // namespace threadstore::state
