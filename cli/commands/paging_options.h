#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "threadstore/page.h"

namespace threadstore::cli {

/// `--limit` and `--after` of a list.
struct PagingOptions {
  std::size_t limit = 100;
  std::optional<std::string> after;
};

inline void add_paging(Syntax& syntax, PagingOptions& options) {
  syntax
      .add_option("--limit", options.limit,
                  "At most so many, 1 to 1000 (default: " + std::to_string(options.limit) + ")")
      ->type_name("N")
      ->check(whole_number(1, 1000));
  syntax.add_option("--after", options.after, "Read on behind a list's \"next\"")
      ->type_name("CURSOR");
}

/// Prints a page as {"items":[…],"next":…}.
template <class Record>
void print_page(Invocation& call, const Page<Record>& page, Json (*record_json)(const Record&)) {
  Json items = Json::array();
  for (const Record& record : page.items) items.push_back(record_json(record));
  call.print({{"items", std::move(items)}, {"next", or_null(page.next)}});
}

inline void note_next(Invocation& call, const std::optional<std::string>& next) {
  if (next) call.note("there are more: repeat with --after '" + *next + "'");
}

}  // namespace threadstore::cli
