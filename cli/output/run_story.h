#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/app/invocation.h"
#include "threadstore/runs.h"

namespace threadstore::cli {

/// "running", "interrupted", "waiting: approval_required", "failed: model_error", "completed" …
std::string shown_state(const Run& run);
Tone tone_of_state(const Run& run);

/// "3.2 s", "4 min 10 s", "2 h 5 min".
std::string shown_duration(std::int64_t milliseconds);

/// "2 turns, 1 tool call, 1234 tokens"; "no model, no tools".
std::string shown_usage(const RunUsage& usage);

/// Turns events into sentences: who did what, who decided, what it cost. Knows the run's calls, so
/// that a call is told by its tool. Texts from the log are escaped and cut.
class RunStory {
 public:
  RunStory() = default;
  explicit RunStory(const std::vector<RunCall>& calls);

  std::string sentence(const RunEvent& event) const;

 private:
  std::string call_name(const std::string& id) const;

  std::map<std::string, RunCall> calls_;
};

/// A table of runs.
void print_runs(Invocation& call, const std::vector<Run>& runs);

/// The whole story of a run: what it is, what happened, how it ended.
void print_story(Invocation& call, const Runs& runs, const Run& run);

}  // namespace threadstore::cli
