#include <unistd.h>

#include <array>
#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/index_json.h"
#include "cli/output/table.h"
#include "cli/output/thread_table.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

/// The index answers without the database: these commands do not open it.
SessionIndex open_index(const Invocation& call) {
  return SessionIndex(call.options().store_home() / "session_index.jsonl",
                      {.deadline = call.options().deadline()});
}

void print_found(Invocation& call, const std::vector<IndexEntry>& found) {
  if (call.json()) {
    Json items = Json::array();
    for (const IndexEntry& entry : found) items.push_back(index_entry_json(entry));
    return call.print({{"items", std::move(items)}});
  }
  Table table({"ID", "UPDATED", "NAME", "TRANSCRIPT"});
  for (const IndexEntry& entry : found) {
    table.add({{entry.thread_id.str(), Tone::mark},
               {short_local_time(entry.updated_at, call.now())},
               {entry.thread_name.value_or("-"), Tone::strong},
               {entry.rollout_path.value_or("-"), Tone::faint}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

Action declare_index_find(Syntax& syntax) {
  auto name = std::make_shared<std::string>();
  syntax.add_option("name", *name, "The session's name, in any case")
      ->type_name("NAME")
      ->required();
  return [name](Invocation& call) {
    print_found(call, open_index(call).find_by_name(line_argument(call, *name, "the name")));
  };
}

Action declare_index_name(Syntax& syntax) {
  auto id = std::make_shared<std::string>();
  syntax.add_option("id", *id, "A full thread id")->type_name("ID")->required();
  return [id](Invocation& call) {
    const auto entry = open_index(call).find(ThreadId(*id));
    if (!entry) {
      throw Error(ErrorCode::not_found, "the session index has no thread '" + *id + "'",
                  {{"thread", *id}});
    }
    if (call.json()) {
      return call.print(
          {{"thread_id", entry->thread_id.str()}, {"thread_name", or_null(entry->thread_name)}});
    }
    call.out() << escape_for_terminal(entry->thread_name.value_or("-")) << '\n';
  };
}

Action declare_index_compact(Syntax&) {
  return [](Invocation& call) {
    SessionIndex index = open_index(call);
    // Without an index there is nothing to compact, and nothing is made.
    const auto done = std::filesystem::exists(index.file()) ? index.compact() : IndexCompaction{};
    if (call.json()) {
      return call.print({{"lines_before", done.lines_before}, {"lines_after", done.lines_after}});
    }
    call.out() << done.lines_before << " lines before, " << done.lines_after << " after\n";
  };
}

void print_difference(Invocation& call, const IndexDifference& difference) {
  const auto list = [&](const std::string& what, const std::vector<ThreadId>& ids) {
    for (const ThreadId& id : ids)
      call.out() << what << "  " << escape_for_terminal(id.str()) << '\n';
  };
  list("missing  ", difference.missing);
  list("extra    ", difference.extra);
  list("different", difference.different);
}

/// What an index without a database calls for: the sessions that it names are somewhere.
std::string without_database(const Invocation& call) {
  return "there is no database at " + call.database().string() +
         ", but the session index names sessions of it; bring the database back "
         "(`threadstore restore FILE` from a backup, or --home)";
}

Action declare_index_verify(Syntax&) {
  return [](Invocation& call) {
    const bool alone = call.store().index() == nullptr;
    const IndexDifference found =
        alone ? open_index(call).compare({}) : call.store().verify_index();
    if (!found.ok()) call.set_exit_code(exit_failed);
    if (call.json()) return call.print(difference_json(found, found.ok()));
    print_difference(call, found);
    if (found.ok()) {
      call.out() << "the index agrees with the database\n";
    } else if (alone) {
      call.out() << without_database(call) << '\n';
    } else {
      call.out() << "the index differs; `threadstore index rebuild` mends it\n";
    }
  };
}

Action declare_index_rebuild(Syntax&) {
  return [](Invocation& call) {
    // A store made for this would be empty, and the index after it.
    if (!std::filesystem::exists(call.database()) && !open_index(call).entries().empty()) {
      throw Error(ErrorCode::not_found, "the index was left as it is: " + without_database(call));
    }
    const IndexDifference mended = call.store().rebuild_index();
    if (call.json()) return call.print(difference_json(mended, true));
    print_difference(call, mended);
    call.out() << (mended.ok() ? "the index agreed with the database\n"
                               : "the index was mended as listed\n");
  };
}

constexpr std::array kVerbs{
    verb("find", Access::nothing, declare_index_find, "Find sessions by name, newest first",
         "index find 'parser rewrite'"),
    verb("name", Access::nothing, declare_index_name, "Tell what a session is called",
         "index name 0195c0de-0000-7000-8000-000000000001"),
    verb("compact", Access::nothing, declare_index_compact, "Keep the last line of each thread",
         "index compact"),
    verb("verify", Access::reading, declare_index_verify, "Compare the index with the database",
         "index verify"),
    verb("rebuild", Access::writing, declare_index_rebuild, "Make the index anew from the database",
         "index rebuild"),
};

}  // namespace

std::span<const Command> index_verbs() { return kVerbs; }

}  // namespace threadstore::cli
