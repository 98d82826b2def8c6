#pragma once

#include <optional>
#include <string>

#include "exchange/json_text.h"
#include "threadstore/checkpoints.h"
#include "threadstore/goals.h"
#include "threadstore/threads.h"
#include "threadstore/tools.h"
#include "threadstore/transfer.h"

namespace threadstore::exchange {

// The lines of our own format as records. Message ids are those of the file; words that are not
// known read as they do in a database.

/// JSON that a caller stored, given in one of two ways (native_format.h); nothing for null.
std::optional<std::string> native_json(JsonText line, const std::string& name);

Thread native_thread(JsonText line);
Checkpoint native_checkpoint(JsonText line);
Tool native_tool(JsonText line);
/// Throws `invalid_argument` for words that no goal can have.
Goal native_goal(JsonText line);

/// The run without what further lines say of it.
RunRecord native_run(JsonText line);
/// Adds what a line of that type says; false for a type that is not known.
bool add_native_run_part(JsonText line, const std::string& type, RunRecord& record);
RunEvent native_event(JsonText line);

}  // namespace threadstore::exchange
