#include "cli/resolve/run_ref.h"

#include "cli/output/json.h"
#include "cli/resolve/directory.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kShortestPart = 4;

[[noreturn]] void several_match(const std::string& given, const std::vector<Run>& runs) {
  std::string message = "'" + given + "' matches several runs; name one by its id:";
  nlohmann::json candidates = nlohmann::json::array();
  for (const Run& run : runs) {
    candidates.push_back(run.id.str());
    message += "\n  " + run.id.str() + "  " + run.agent_name;
  }
  throw Error(ErrorCode::invalid_argument, message, {{"candidates", candidates}});
}

}  // namespace

Runs runs_of(Invocation& call) {
  const std::string& given = call.options().workspace;
  return call.store().runs(given.empty() ? current_directory() : given);
}

Runs runs_of_thread(Invocation& call, const StateStore& store, const Thread& thread) {
  const std::string& given = call.options().workspace;
  if (!given.empty()) return store.runs(given);
  return store.runs(thread.cwd.empty() ? current_directory() : thread.cwd);
}

Run resolve_run(Invocation& call, const std::string& given) {
  const Runs runs = runs_of(call);
  if (!given.empty()) {
    if (auto run = runs.find(RunId(given))) return *std::move(run);
  }
  if (given == "@last") {
    auto page = runs.list({.limit = 1});
    if (!page.items.empty()) return std::move(page.items.front());
  } else if (given.size() >= kShortestPart) {
    auto found = runs.find_by_id_part(given);
    if (found.size() > 1) several_match(given, found);
    if (!found.empty()) return std::move(found.front());
  }
  throw Error(ErrorCode::not_found,
              "there is no run '" + given + "' in the workspace " + runs.workspace() +
                  "; `threadstore run list` shows its runs, --workspace names another",
              {{"run", given}, {"workspace_id", runs.workspace()}});
}

}  // namespace threadstore::cli
