#pragma once

#include <optional>
#include <string>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/output/workflow_json.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/text.h"
#include "threadstore/workflow_trace.h"

namespace threadstore::cli {

// The verbs of `workflow` for the parts of a run.
Action declare_start_branch(Syntax& syntax);
Action declare_start_leaf(Syntax& syntax);
Action declare_start_node(Syntax& syntax);
Action declare_finish_branch(Syntax& syntax);
Action declare_finish_leaf(Syntax& syntax);
Action declare_finish_node(Syntax& syntax);
Action declare_candidate(Syntax& syntax);
Action declare_judge(Syntax& syntax);

/// `--status` of a verb that finishes something.
inline void add_end_status(Syntax& syntax, std::string& status) {
  syntax.add_option("--status", status, "How it ended (default: completed)")
      ->check(one_of<TraceStatus>())
      ->type_name("");
}
inline TraceStatus end_status(const std::string& word) {
  return from_word<TraceStatus>(word).value_or(TraceStatus::failed);
}

inline std::optional<std::string> given_json(Invocation& call,
                                             const std::optional<std::string>& given) {
  if (!given) return std::nullopt;
  return text_argument(call, *given, "the JSON");
}

/// The record with `--json`, else its id.
template <class Record>
void print_started(Invocation& call, const Record& record) {
  if (call.json()) return call.print(workflow_json(record));
  call.out() << escape_for_terminal(record.id.str()) << '\n';
}

template <class Record>
void print_finished(Invocation& call, const Record& record) {
  if (call.json()) return call.print(workflow_json(record));
  call.out() << to_word(record.status) << ' ' << escape_for_terminal(record.id.str()) << '\n';
}

}  // namespace threadstore::cli
