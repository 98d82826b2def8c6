#include <unistd.h>

#include <map>
#include <memory>

#include "cli/app/syntax.h"
#include "cli/commands/run_options.h"
#include "cli/output/run_trace_json.h"
#include "cli/output/table.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kMostShown = 60;

/// Who stands below whom, as positions in the list that the tree was read into. The first one is
/// the root, whatever a damaged file says is above it.
std::vector<std::vector<std::size_t>> children_of(const std::vector<Run>& runs) {
  std::map<RunId, std::size_t> positions;
  for (std::size_t i = 0; i < runs.size(); ++i) positions.emplace(runs[i].id, i);
  std::vector<std::vector<std::size_t>> children(runs.size());
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const auto parent = positions.find(runs[i].lineage.parent_run_id.value_or(RunId()));
    if (parent != positions.end()) children[parent->second].push_back(i);
  }
  return children;
}

void print_line(Invocation& call, const std::string& branch, const Run& run) {
  const std::string& id = run.id.str();
  call.out() << branch
             << call.style().paint(
                    Tone::mark, id.size() > 12 ? id.substr(id.size() - 8) : escape_for_terminal(id))
             << "  " << call.style().paint(tone_of_state(run), shown_state(run)) << "  "
             << escape_for_terminal(run.agent_name);
  if (!run.input.empty()) {
    call.out() << "  " << cut_to_width(escape_for_terminal(run.input), kMostShown);
  }
  call.out() << '\n';
}

/// Without recursion: a tree may be as deep as the store lets it.
void draw(Invocation& call, const std::vector<Run>& runs) {
  const auto children = children_of(runs);
  struct Pending {
    std::size_t run;
    std::string before;  ///< what stands in front of the lines below it
    std::string branch;
  };
  std::vector<Pending> pending{{.run = 0, .before = "", .branch = ""}};
  while (!pending.empty()) {
    const Pending next = pending.back();
    pending.pop_back();
    print_line(call, next.branch, runs[next.run]);
    const auto& below = children[next.run];
    for (std::size_t i = below.size(); i > 0; --i) {
      const bool last = i == below.size();
      pending.push_back({.run = below[i - 1],
                         .before = next.before + (last ? "  " : "│ "),
                         .branch = next.before + (last ? "└─" : "├─")});
    }
  }
}

void print_budget(std::ostream& out, const char* what, std::int64_t used,
                  const std::optional<std::int64_t>& limit) {
  out << what << used;
  if (limit) out << " of " << *limit;
  out << '\n';
}

void print_charged(Invocation& call, const Run& run) {
  std::ostream& out = call.out();
  print_budget(out, "model turns  ", run.usage.model_turns, run.budgets.max_turns);
  print_budget(out, "tool calls   ", run.usage.tool_calls, run.budgets.max_tool_calls);
  if (run.usage.total_tokens) {
    print_budget(out, "tokens       ", *run.usage.total_tokens, run.budgets.max_total_tokens);
  } else {
    out << "tokens       unknown\n";
  }
  out << "accounting   " << to_word(run.usage.token_accounting()) << '\n';
  out << "worked       " << shown_duration(run.execution_elapsed_ms);
  if (run.budgets.timeout_seconds) {
    out << " of " << shown_duration(*run.budgets.timeout_seconds * 1000);
  }
  out << '\n';
}

std::string tokens_or_unknown(const RunUsage& usage) {
  return usage.total_tokens ? std::to_string(*usage.total_tokens) : "-";
}

/// What a tree used: the run itself, all of it, and each model. A run alone has said it already.
void print_report(Invocation& call, const UsageReport& report) {
  if (report.subtree_step_tokens > 0) {
    call.out() << "step tokens  " << report.own_step_tokens;
    if (report.runs > 1) call.out() << ", " << report.subtree_step_tokens << " with those below";
    call.out() << '\n';
  }
  if (report.runs == 1) return;
  call.out() << "itself       " << shown_usage(report.own) << '\n'
             << "its tree     " << shown_usage(report.subtree) << '\n';
  Table table({"RUNS", "TURNS", "CALLS", "TOKENS", "STEP TOKENS", "PROVIDER", "MODEL"});
  for (const ModelUsage& model : report.by_model) {
    table.add({{std::to_string(model.runs)},
               {std::to_string(model.usage.model_turns)},
               {std::to_string(model.usage.tool_calls)},
               {tokens_or_unknown(model.usage)},
               {std::to_string(model.step_tokens)},
               {model.provider.value_or("-")},
               {model.model, Tone::strong}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

}  // namespace

Action declare_run_tree(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_run(syntax, *given);
  return [given](Invocation& call) {
    const auto runs = runs_of(call).tree().runs(resolve_run(call, *given).id);
    if (!call.json()) return draw(call, runs);
    const auto children = children_of(runs);
    Json items = Json::array();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      Json item = run_json(runs[i]);
      item["children"] = Json::array();
      for (const std::size_t child : children[i]) {
        item["children"].push_back(runs[child].id.str());
      }
      items.push_back(std::move(item));
    }
    call.print({{"items", std::move(items)}, {"next", nullptr}});
  };
}

Action declare_run_usage(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_run(syntax, *given);
  return [given](Invocation& call) {
    const Run run = resolve_run(call, *given);
    const UsageReport report = runs_of(call).tree().usage(run.id);
    if (call.json()) return call.print(usage_report_json(run, report));
    print_charged(call, run);
    print_report(call, report);
  };
}

}  // namespace threadstore::cli
