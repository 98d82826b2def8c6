#pragma once

#include <string>
#include <string_view>

#include "exchange/json_object.h"

// Our own format (docs/import_export.md): JSON Lines, a "type" in each.
//
//   file     = head, (thread, *message, *checkpoint, *tool, [goal], *run), end
//   run      = run, *(run_call | run_approval | run_suspension | run_checkpoint | run_artifact |
//                     run_step | run_request | run_spawn),
//              *run_event, run_end
//
// A message stands behind its parent. JSON that callers stored stands as it was stored; when it is
// not valid JSON or goes over several lines, it is given as a string under the name with `_text`.
namespace threadstore::exchange {

inline constexpr std::string_view native_type = "threadstore";
inline constexpr int native_version = 1;

/// Adds JSON that a caller stored to a line, in the one way or the other.
void add_json(JsonObject& line, const std::string& name, const std::string& json);

}  // namespace threadstore::exchange
