#pragma once

#include <ostream>

#include "cli/terminal/style.h"
#include "threadstore/workflow_trace.h"

namespace threadstore::cli {

Tone tone_of(TraceStatus status);

/// The run as an indented tree: branches with their leaves, leaves of no branch, control nodes with
/// their candidates.
void print_trace(std::ostream& out, const WorkflowTrace& trace, const Style& style);

}  // namespace threadstore::cli
