#include "cli/commands/run_approvals.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/run_options.h"
#include "cli/output/run_trace_json.h"
#include "cli/output/table.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/local_time.h"

// What waits for a decision: calls of tools, and requests of steps.
namespace threadstore::cli {
namespace {

struct AskOptions {
  std::string run;
  NewRequest request;
};

/// One line of the list, whichever kind it is.
struct Waiting {
  RunId run;
  std::string name;  ///< the call, or #N
  std::string what;  ///< the tool, or the act
  UnixMillis asked = 0;
  std::string wants;
  std::optional<ApprovalDecision> decision;
  std::optional<std::string> by;
  Json json;
};

Waiting waiting(const RunApproval& approval) {
  std::string wants;
  for (const Capability capability : approval.capabilities) {
    wants += (wants.empty() ? "" : " ") + std::string(to_word(capability));
  }
  return {.run = approval.run_id,
          .name = approval.call_id.str(),
          .what = approval.tool_name,
          .asked = approval.requested_at,
          .wants = wants,
          .decision = approval.decision,
          .by = approval.decided_by,
          .json = approval_json(approval)};
}

Waiting waiting(const DeferredApproval& request) {
  return {.run = request.run_id,
          .name = "#" + std::to_string(to_int(request.request_id)),
          .what = request.act,
          .asked = request.requested_at,
          .wants = request.target,
          .decision = request.decision,
          .by = request.decided_by,
          .json = request_json(request)};
}

/// Both kinds, oldest first.
std::vector<Waiting> merged(const std::vector<RunApproval>& approvals,
                            const std::vector<DeferredApproval>& requests) {
  std::vector<Waiting> all;
  for (const RunApproval& approval : approvals) all.push_back(waiting(approval));
  for (const DeferredApproval& request : requests) all.push_back(waiting(request));
  std::stable_sort(all.begin(), all.end(),
                   [](const Waiting& a, const Waiting& b) { return a.asked < b.asked; });
  return all;
}

void print_table(Invocation& call, const std::vector<Waiting>& all) {
  Table table({"RUN", "CALL", "TOOL", "ASKED", "WANTS", "DECISION", "BY"});
  for (const Waiting& one : all) {
    const std::string& id = one.run.str();
    table.add({{id.substr(id.size() - std::min<std::size_t>(id.size(), 8)), Tone::mark},
               {one.name},
               {one.what, Tone::strong},
               {short_local_time(one.asked / 1000, call.now())},
               {one.wants},
               {one.decision ? std::string(to_word(*one.decision)) : "-"},
               {one.by.value_or("-")}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

void print_list(Invocation& call, const std::vector<Waiting>& all) {
  if (!call.json()) return print_table(call, all);
  Json items = Json::array();
  for (const Waiting& one : all) items.push_back(one.json);
  call.print({{"items", std::move(items)}, {"next", nullptr}});
}

void print_one(Invocation& call, const Waiting& one) {
  if (call.json()) return call.print(one.json);
  print_table(call, {one});
}

void print_undecided(Invocation& call) {
  const Runs runs = runs_of(call);
  const auto undecided = merged(runs.calls().pending_approvals(), runs.requests().pending());
  if (undecided.empty() && !call.json()) {
    return call.note("nothing waits for a decision in this workspace");
  }
  print_list(call, undecided);
}

}  // namespace

std::optional<RequestId> request_number(const std::string& given) {
  if (!given.starts_with('#')) return std::nullopt;
  std::int64_t number = 0;
  const char* end = given.data() + given.size();
  const auto read = std::from_chars(given.data() + 1, end, number);
  if (read.ec == std::errc() && read.ptr == end) return static_cast<RequestId>(number);
  throw Error(ErrorCode::invalid_argument, "'" + given +
                                               "' is no request: its number stands behind #, as "
                                               "`threadstore approvals` shows it");
}

DeferredApproval decide_request(const Runs& runs, const Run& run, RequestId request,
                                const Decision& decision) {
  const DeferredApproval asked = runs.requests().get(request);
  const auto ids = runs.tree().ids(run.id);
  if (std::find(ids.begin(), ids.end(), asked.run_id) == ids.end()) {
    throw Error(ErrorCode::not_found,
                "request " + std::to_string(to_int(request)) + " is of run " + asked.run_id.str() +
                    ", which is not " + run.id.str() + " nor below it",
                {{"run_id", asked.run_id.str()}, {"request_id", to_int(request)}});
  }
  return runs.requests().decide(request, decision);
}

void print_approval(Invocation& call, const RunApproval& approval) {
  print_one(call, waiting(approval));
}

void print_approval(Invocation& call, const DeferredApproval& request) {
  print_one(call, waiting(request));
}

Action declare_run_approvals(Syntax& syntax) {
  auto given = std::make_shared<std::optional<std::string>>();
  syntax
      .add_option("run", *given, "All approvals of this run (default: undecided ones of all runs)")
      ->type_name("RUN");
  return [given](Invocation& call) {
    if (!*given) return print_undecided(call);
    const Runs runs = runs_of(call);
    const RunId run = resolve_run(call, **given).id;
    print_list(call, merged(runs.calls().approvals(run), runs.requests().list(run)));
  };
}

Action declare_approvals(Syntax&) { return print_undecided; }

Action declare_run_ask(Syntax& syntax) {
  auto options = std::make_shared<AskOptions>();
  NewRequest& request = options->request;
  add_run(syntax, options->run);
  syntax.add_option("--step", request.step, "For which step")->type_name("N")->required();
  syntax.add_option("--act", request.act, "What it wants to do: read, write, exec, …")
      ->type_name("ACT")
      ->required();
  syntax.add_option("--target", request.target, "With what")->type_name("TEXT")->required();
  syntax.add_option("--content", request.content, "All that is needed to do it; - reads stdin")
      ->type_name("TEXT");
  syntax.add_option("--key", request.key, "Idempotency key: asking again finds the request")
      ->type_name("K");
  return [options](Invocation& call) {
    const RunId run = resolve_run(call, options->run).id;
    NewRequest wanted = options->request;
    wanted.act = line_argument(call, wanted.act, "the act");
    wanted.target = line_argument(call, wanted.target, "the target");
    if (wanted.content) wanted.content = text_argument(call, *wanted.content, "the content");
    const DeferredApproval asked = runs_of(call).requests().put(run, wanted);
    if (call.json()) return call.print(request_json(asked));
    call.out() << '#' << to_int(asked.request_id) << '\n';
  };
}

}  // namespace threadstore::cli
