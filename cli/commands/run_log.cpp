#include <map>
#include <memory>

#include "cli/app/choices.h"
#include "cli/app/syntax.h"
#include "cli/commands/follow_store.h"
#include "cli/commands/run_options.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kAtOnce = 1000;

struct EventsOptions {
  std::string run;
  std::optional<std::string> type;
  std::int64_t after = 0;
  std::size_t limit = 1000;
};

struct TailOptions {
  std::optional<std::string> run;
  std::optional<std::int64_t> since;
  std::size_t lines = 10;
  bool follow = false;
};

/// Prints events of the workspace, or of one run, as they are committed.
class Tail {
 public:
  Tail(Invocation& call, std::optional<RunId> only, std::int64_t last)
      : call_(call), only_(std::move(only)), last_(last) {}

  void print_new(const Runs& runs) {
    for (;;) {
      const auto events = runs.log().since(last_, kAtOnce);
      for (const RunEvent& event : events) {
        last_ = event.gid;
        if (!only_ || *only_ == event.run_id) print(runs, event);
      }
      call_.out().flush();
      if (events.size() < kAtOnce) return;
    }
  }

 private:
  void print(const Runs& runs, const RunEvent& event) {
    if (call_.json()) return call_.print(event_json(event));
    const std::string& id = event.run_id.str();
    call_.out() << call_.style().paint(Tone::mark,
                                       id.substr(id.size() - std::min<std::size_t>(id.size(), 8)))
                << "  " << story_of(runs, event).sentence(event) << '\n';
  }

  /// The run's calls are read again when an event may be about a new one.
  const RunStory& story_of(const Runs& runs, const RunEvent& event) {
    const auto known = stories_.find(event.run_id);
    if (known != stories_.end() && event.event_type != "tool.requested") return known->second;
    RunStory& story = stories_[event.run_id];
    try {
      story = RunStory(runs.calls().list(event.run_id));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::not_found) throw;  // removed since: told without its calls
    }
    return story;
  }

  Invocation& call_;
  std::optional<RunId> only_;
  std::int64_t last_;
  std::map<RunId, RunStory> stories_;
};

/// The cursor in front of the last events.
std::int64_t start_of_last(const Runs& runs, const std::optional<RunId>& run, std::size_t lines) {
  const std::int64_t newest = runs.log().newest_gid();
  if (lines == 0) return newest;
  if (run) {
    const std::int64_t last = runs.get(*run).last_sequence;
    const auto events = runs.log().list(
        *run, std::max<std::int64_t>(0, last - static_cast<std::int64_t>(lines)), 1);
    return events.empty() ? newest : events.front().gid - 1;
  }
  return std::max<std::int64_t>(0, newest - static_cast<std::int64_t>(lines));
}

void tail(Invocation& call, const TailOptions& options) {
  const Runs runs = runs_of(call);
  std::optional<RunId> only;
  if (options.run) only = resolve_run(call, *options.run).id;
  Tail printer(call, only,
               options.since ? *options.since : start_of_last(runs, only, options.lines));
  if (!options.follow) return printer.print_new(runs);
  const std::string workspace = runs.workspace();
  follow_store(call, [&](const StateStore& seen) { printer.print_new(seen.runs(workspace)); });
}

}  // namespace

Action declare_run_events(Syntax& syntax) {
  auto options = std::make_shared<EventsOptions>();
  add_run(syntax, options->run);
  syntax.add_option("--after", options->after, "Only events behind that sequence")
      ->type_name("SEQ");
  syntax.add_option("--type", options->type, "Only that type, or with a dot at its end that kind")
      ->type_name("TYPE");
  syntax.add_option("--limit", options->limit, "At most so many, 1 to 1000 (default: 1000)")
      ->type_name("N")
      ->check(whole_number(1, kAtOnce));
  return [options](Invocation& call) {
    const Run run = resolve_run(call, options->run);
    const RunLog log = runs_of(call).log();
    const auto events =
        options->type ? log.list_of_type(run.id, *options->type, options->after, options->limit)
                      : log.list(run.id, options->after, options->limit);
    const bool more = events.size() == options->limit && events.back().sequence < run.last_sequence;
    if (call.json()) {
      Json items = Json::array();
      for (const RunEvent& event : events) items.push_back(event_json(event));
      return call.print(
          {{"items", std::move(items)},
           {"next", more ? Json(std::to_string(events.back().sequence)) : Json(nullptr)}});
    }
    for (const RunEvent& event : events) {
      call.out() << call.style().paint(Tone::mark, pad_to_width(std::to_string(event.sequence), 6))
                 << pad_to_width(escape_for_terminal(event.event_type), 24)
                 << escape_for_terminal(event.payload) << '\n';
    }
    if (more) call.note("there are more: --after " + std::to_string(events.back().sequence));
  };
}

Action declare_run_tail(Syntax& syntax) {
  auto options = std::make_shared<TailOptions>();
  syntax.add_option("run", options->run, "Only this run (default: all of the workspace)")
      ->type_name("RUN");
  syntax.add_flag("-f,--follow", options->follow, "Go on with new events until Ctrl-C");
  syntax.add_option("--since", options->since, "Every event behind that gid")->type_name("GID");
  syntax.add_option("-n,--lines", options->lines, "Begin with the last N events (default: 10)")
      ->type_name("N")
      ->check(whole_number(0, kAtOnce));
  return [options](Invocation& call) { tail(call, *options); };
}

}  // namespace threadstore::cli
