#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>

#include "cli/app/choices.h"
#include "cli/app/syntax.h"
#include "cli/commands/run_options.h"
#include "cli/output/run_trace_json.h"
#include "cli/output/table.h"
#include "cli/terminal/local_time.h"

namespace threadstore::cli {
namespace {

struct TraceOptions {
  std::string run;
  std::vector<std::string> lists;
  std::int64_t after = 0;
  std::size_t limit = 1000;
};

/// An entry of some list, as it is shown.
struct Entry {
  std::int64_t sequence = 0;
  UnixMillis at = 0;
  std::int64_t step = 0;
  std::string kind;
  std::string what;
  Json json;
};

std::string end_of(const RunId& id) {
  const std::string& text = id.str();
  return text.size() > 12 ? text.substr(text.size() - 8) : text;
}

/// " (key value, …)" of what is there; or nothing.
std::string in_brackets(
    const std::vector<std::pair<std::string, std::optional<std::string>>>& members) {
  std::string text;
  for (const auto& [key, value] : members) {
    if (value) text += (text.empty() ? " (" : ", ") + key + *value;
  }
  return text.empty() ? text : text + ")";
}

std::string describe(const PolicyEvent& event) {
  const std::string done = event.act + " " + event.target;
  if (event.kind == PolicyKind::refusal) {
    return done + in_brackets({{"rule ", event.rule}, {"layer ", event.layer}});
  }
  return event.decision.value_or("?") + " " + done +
         in_brackets({{"by ", event.source}, {"performed ", event.performed}});
}

std::string describe(const DelegationEvent& event) {
  const std::string child = event.child_run_id ? end_of(*event.child_run_id) : "";
  if (event.kind == DelegationKind::budget_draw) {
    return std::to_string(event.tokens.value_or(0)) + " tokens, " +
           std::to_string(event.remaining.value_or(0)) + " remain";
  }
  return child + (child.empty() || !event.detail ? "" : ": ") + event.detail.value_or("");
}

std::string describe(const SandboxEvent& event) {
  return event.backend.value_or("") + (event.backend && event.detail ? ": " : "") +
         event.detail.value_or("");
}

std::string describe(const StepEvent& event) { return event.detail.value_or(""); }

/// Reads one list into the entries; true when there may be more of it.
template <class Event>
bool collect(const std::vector<Event>& events, std::size_t limit, std::vector<Entry>& entries) {
  std::set<std::int64_t> sequences;
  for (const Event& event : events) {
    sequences.insert(event.sequence);
    entries.push_back({.sequence = event.sequence,
                       .at = event.at,
                       .step = event.step,
                       .kind = std::string(to_word(event.kind)),
                       .what = describe(event),
                       .json = audit_json(event)});
  }
  return sequences.size() >= limit;
}

struct Trace {
  std::vector<Entry> entries;
  bool more = false;
};

/// The lists that were asked for as one, in the order of the log.
Trace read_trace(const RunAudit& audit, const RunId& run, const TraceOptions& options) {
  const auto wants = [&](const char* list) {
    return options.lists.empty() ||
           std::find(options.lists.begin(), options.lists.end(), list) != options.lists.end();
  };
  const auto after = options.after;
  const auto limit = options.limit;
  Trace trace;
  auto& entries = trace.entries;
  if (wants("policy")) trace.more |= collect(audit.policy(run, after, limit), limit, entries);
  if (wants("delegation")) {
    trace.more |= collect(audit.delegation(run, after, limit), limit, entries);
  }
  if (wants("sandbox")) trace.more |= collect(audit.sandbox(run, after, limit), limit, entries);
  if (wants("steps")) trace.more |= collect(audit.steps(run, after, limit), limit, entries);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.sequence < b.sequence; });
  // Lists are cut where the first of them may have been: at as many events as were asked for.
  std::set<std::int64_t> sequences;
  const auto end = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    sequences.insert(entry.sequence);
    return sequences.size() > limit;
  });
  if (end != entries.end()) {
    trace.more = true;
    entries.erase(end, entries.end());
  }
  return trace;
}

void print_trace(Invocation& call, const Trace& trace) {
  Table table({"SEQ", "WHEN", "STEP", "KIND", "WHAT"});
  for (const Entry& entry : trace.entries) {
    table.add({{std::to_string(entry.sequence), Tone::mark},
               {short_local_time(entry.at / 1000, call.now())},
               {std::to_string(entry.step)},
               {entry.kind, Tone::strong},
               {entry.what}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

}  // namespace

Action declare_run_trace(Syntax& syntax) {
  auto options = std::make_shared<TraceOptions>();
  add_run(syntax, options->run);
  syntax.add_option("--kind", options->lists, "Only these lists")
      ->check(one_of({"policy", "delegation", "sandbox", "steps"}))
      ->delimiter(',')
      ->type_name("");
  syntax.add_option("--after", options->after, "Only what is behind that sequence")
      ->type_name("SEQ");
  syntax.add_option("--limit", options->limit, "At most so many events, 1 to 1000 (default: 1000)")
      ->type_name("N")
      ->check(whole_number(1, 1000));
  return [options](Invocation& call) {
    const Run run = resolve_run(call, options->run);
    const Trace trace = read_trace(runs_of(call).audit(), run.id, *options);
    const bool more =
        trace.more && !trace.entries.empty() && trace.entries.back().sequence < run.last_sequence;
    if (call.json()) {
      Json items = Json::array();
      for (const Entry& entry : trace.entries) items.push_back(entry.json);
      return call.print(
          {{"items", std::move(items)},
           {"next", more ? Json(std::to_string(trace.entries.back().sequence)) : Json(nullptr)}});
    }
    print_trace(call, trace);
    if (more) {
      call.note("there are more: --after " + std::to_string(trace.entries.back().sequence));
    }
  };
}

}  // namespace threadstore::cli
