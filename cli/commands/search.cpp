#include <memory>
#include <vector>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/paging_options.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/directory.h"
#include "cli/resolve/moment.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  bool here = false;
  bool newest = false;
  bool rebuild = false;
  std::optional<std::string> cwd, thread, role, source, since;
  PagingOptions paging{.limit = 20, .after = {}};
};

std::string text_of(Invocation& call, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text_argument(call, text, "what to search for");
}

SearchQuery query_from(Invocation& call, const Options& options) {
  SearchQuery query{.text = text_of(call, options.words),
                    .role = options.role,
                    .order = options.newest ? SearchOrder::newest : SearchOrder::best,
                    .limit = options.paging.limit,
                    .after = options.paging.after};
  if (options.thread) query.thread = resolve_thread(call, *options.thread).id;
  if (options.here) query.cwd = current_directory();
  if (options.cwd) query.cwd = real_directory(*options.cwd);
  if (options.source) query.source = from_word<SessionSource>(*options.source);
  if (options.since) query.since = parse_moment(*options.since, call.now());
  return query;
}

Json hit_json(const SearchHit& hit) {
  Json marks = Json::array();
  for (const SnippetMark& mark : hit.snippet.marks) {
    marks.push_back(Json::array({mark.offset, mark.length}));
  }
  return {{"thread_id", hit.thread_id.str()},
          {"thread_name", or_null(hit.thread_name)},
          {"message_id", to_int(hit.message_id)},
          {"role", hit.role},
          {"created_at", hit.created_at},
          {"snippet", hit.snippet.text},
          {"marks", std::move(marks)}};
}

/// The snippet with its marks painted. Each piece is escaped by itself, so that the marks stay
/// where they belong.
std::string painted(const Style& style, const Snippet& snippet) {
  const std::string_view text = snippet.text;
  std::string line;
  std::size_t done = 0;
  for (const SnippetMark& mark : snippet.marks) {
    line += escape_for_terminal(text.substr(done, mark.offset - done));
    line += style.paint(Tone::mark, escape_for_terminal(text.substr(mark.offset, mark.length)));
    done = mark.offset + mark.length;
  }
  return line + escape_for_terminal(text.substr(done));
}

/// The thread's name, else its first words; empty when it has neither.
std::string title_of(Invocation& call, const SearchHit& hit) {
  if (hit.thread_name && !hit.thread_name->empty()) return *hit.thread_name;
  const auto thread = call.store().threads().find(hit.thread_id);
  return thread && !thread->preview.empty() ? shown_name(*thread) : "";
}

void print_text(Invocation& call, const Page<SearchHit>& page) {
  if (page.items.empty()) {
    if (call.interactive()) call.note("no message matches");
    return;
  }
  const Style& style = call.style();
  for (const SearchHit& hit : page.items) {
    const std::string title = cut_to_width(escape_for_terminal(title_of(call, hit)), 60);
    const std::string id = escape_for_terminal(short_id(hit.thread_id));
    call.out() << style.paint(tone_of_role(hit.role), escape_for_terminal(hit.role)) << ' '
               << style.paint(Tone::faint, "#" + std::to_string(to_int(hit.message_id)) + "  " +
                                               short_local_time(hit.created_at, call.now()) + "  " +
                                               id)
               << (title.empty() ? "" : "  " + style.paint(Tone::strong, title)) << "\n  "
               << painted(style, hit.snippet) << '\n';
  }
  note_next(call, page.next);
}

void search(Invocation& call, const Options& options) {
  const Search search = call.store().search();
  ProgressBar bar("indexing messages", call.options().quiet);
  const Progress progress = [&](std::int64_t done, std::int64_t total) { bar(done, total); };
  if (options.rebuild) search.rebuild(progress);
  if (options.words.empty() && options.rebuild) {
    if (call.json()) call.print({{"rebuilt", true}});
    return;
  }
  const auto page = search.find(query_from(call, options), progress);
  if (call.json()) return print_page(call, page, hit_json);
  print_text(call, page);
}

}  // namespace

Action declare_search(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax
      .add_option("text", options->words,
                  "Words that must all occur, \"a phrase\", begin*, AND, OR, NOT, ( )")
      ->type_name("TEXT");
  auto* here = syntax.add_flag("--here", options->here, "Only threads of this directory");
  syntax.add_option("--cwd", options->cwd, "Only threads of that directory")
      ->type_name("DIR")
      ->excludes(here);
  syntax.add_option("--thread", options->thread, "Only what this thread shows")
      ->type_name("THREAD");
  syntax.add_option("--role", options->role, "Only messages of that role")->type_name("ROLE");
  syntax.add_option("--source", options->source, "Only threads that came to be so")
      ->check(one_of<SessionSource>())
      ->type_name("");
  syntax.add_option("--since", options->since, "Only messages since then (2h, 3d, 2026-03-01)")
      ->type_name("T");
  syntax.add_flag("--newest", options->newest, "The newest first instead of the best");
  add_paging(syntax, options->paging);
  syntax.add_flag("--rebuild", options->rebuild, "Make the search index anew first");
  return [options](Invocation& call) { search(call, *options); };
}

}  // namespace threadstore::cli
