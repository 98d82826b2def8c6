#include "state/runs/indeterminate.h"

#include <nlohmann/json.hpp>

#include "state/runs/event_log.h"

namespace threadstore::state {

std::vector<RunCall> indeterminate_calls(db::Session& session, const RunId& run) {
  return session.all(select_calls + R"( AND c.status IN ('requested', 'started', 'indeterminate')
                                        AND c.status = 'indeterminate'
                                        ORDER BY c.requested_sequence)",
                     {run}, read_call);
}

std::vector<RunCall> mark_indeterminate(db::Session& session, const RunId& run, UnixMillis now) {
  const auto started =
      session.all(select_calls + R"( AND c.status IN ('requested', 'started', 'indeterminate')
                         AND c.status = 'started'
                         AND NOT EXISTS (SELECT 1 FROM runs AS child
                                         WHERE child.parent_run_id = c.run_id
                                           AND child.parent_call_id = c.call_id)
                         ORDER BY c.requested_sequence)",
                  {run}, read_call);
  for (const RunCall& call : started) {
    session.run("UPDATE run_calls SET status = 'indeterminate' WHERE run_id = ? AND call_id = ?",
                {run, call.call_id});
    append_event(session, run, "tool.indeterminate", {{"call_id", call.call_id.str()}}, now);
  }
  return indeterminate_calls(session, run);
}

}  // namespace threadstore::state
