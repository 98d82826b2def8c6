#include <memory>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/thread_json.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/directory.h"
#include "cli/resolve/moment.h"
#include "cli/resolve/text_argument.h"

namespace threadstore::cli {
namespace {

constexpr std::int64_t kMostAtOnce = 1000;

struct Options {
  bool all = false;
  bool archived = false;
  bool here = false;
  std::optional<std::string> cwd, source, status, provider, name, since, after;
  std::size_t limit = 50;
};

ThreadFilter filter_from(Invocation& call, const Options& options) {
  ThreadFilter filter{.model_provider = options.provider,
                      .name_part = line_argument(call, options.name, "the name"),
                      .limit = options.limit,
                      .after = options.after};
  if (options.all) filter.archived = ArchivedFilter::all;
  if (options.archived) filter.archived = ArchivedFilter::archived;
  if (options.here) filter.cwd = current_directory();
  if (options.cwd) filter.cwd = real_directory(*options.cwd);
  if (options.source) filter.source = from_word<SessionSource>(*options.source);
  if (options.status) filter.status = from_word<ThreadStatus>(*options.status);
  if (options.since) filter.updated_since = parse_moment(*options.since, call.now());
  return filter;
}

void print_text(Invocation& call, const Page<Thread>& page, const Options& options) {
  if (page.items.empty()) {
    const ThreadFilter any{.archived = ArchivedFilter::all, .limit = 1};
    return call.note(call.store().threads().list(any).items.empty()
                         ? "no threads yet; `threadstore chat` starts one"
                         : "no thread matches; `threadstore list --all` shows every one");
  }
  print_threads(call, page.items, !options.here && !options.cwd);
  if (page.next) call.note("there are more: repeat with --after '" + *page.next + "'");
}

}  // namespace

Action declare_list(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  auto* all = syntax.add_flag("--all", options->all, "Archived ones too");
  syntax.add_flag("--archived", options->archived, "Only archived ones")->excludes(all);
  auto* here = syntax.add_flag("--here", options->here, "Only those of this directory");
  syntax.add_option("--cwd", options->cwd, "Only those of that directory")
      ->type_name("DIR")
      ->excludes(here);
  syntax.add_option("--source", options->source, "Only those that came to be so")
      ->check(one_of<SessionSource>())
      ->type_name("");
  syntax.add_option("--status", options->status, "Only those with that stored status")
      ->check(one_of<ThreadStatus>())
      ->type_name("");
  syntax.add_option("--provider", options->provider, "Only those of that provider")->type_name("P");
  syntax.add_option("--name", options->name, "Only names with that text in them, in any case")
      ->type_name("TEXT");
  syntax.add_option("--since", options->since, "Only those active since then (2h, 3d, 2026-03-01)")
      ->type_name("T");
  syntax.add_option("--limit", options->limit, "At most so many, 1 to 1000 (default: 50)")
      ->type_name("N")
      ->check(whole_number(1, kMostAtOnce));
  syntax.add_option("--after", options->after, "Read on behind a list's \"next\"")
      ->type_name("CURSOR");
  return [options](Invocation& call) {
    const auto page = call.store().threads().list(filter_from(call, *options));
    if (!call.json()) return print_text(call, page, *options);
    Json items = Json::array();
    for (const Thread& thread : page.items) items.push_back(thread_json(thread));
    call.print({{"items", std::move(items)}, {"next", or_null(page.next)}});
  };
}

}  // namespace threadstore::cli
