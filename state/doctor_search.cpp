#include <string>

#include "state/doctor.h"
#include "state/search/search_index.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

Check warning(std::string detail, std::string advice) {
  return {.status = CheckStatus::warning, .detail = std::move(detail), .advice = std::move(advice)};
}

Check judged(const SearchIndex::Condition& condition, const std::string& file) {
  const std::string rebuild = "'threadstore search --rebuild' makes it anew";
  if (!condition.fault.empty()) return warning(file + " is damaged: " + condition.fault, rebuild);
  if (!condition.usable) {
    return {.detail = file + " is of an older state; the next search makes it anew"};
  }
  if (condition.deleted > 0) {
    return warning("the text of " + std::to_string(condition.deleted) +
                       (condition.deleted == 1 ? " deleted message" : " deleted messages") +
                       " still stands in " + file,
                   rebuild + " without it");
  }
  if (condition.waiting == 0) return {.detail = "the search index has every message"};
  return {.detail = "the next search takes in " + std::to_string(condition.waiting) +
                    (condition.waiting == 1 ? " message" : " messages")};
}

}  // namespace

/// Nothing here fails the store: the index is derived, and the store is complete without it.
Check check_search(StoreContext& context) {
  if (!context.index) return {.detail = "the store is in memory"};
  const std::filesystem::path file = SearchIndex::file_of(context);
  if (!std::filesystem::exists(file)) {
    return {.detail = "there is no search index yet; the first search makes it"};
  }
  try {
    return judged(SearchIndex(context, db::Mode::read_only).condition(), file.string());
  } catch (const Error& error) {
    if (!is_about_search_index(context, error)) throw;
    return warning(error.what(), error.code() == ErrorCode::damaged
                                     ? "'threadstore search --rebuild' makes it anew"
                                     : "searches read every message until it can be used");
  }
}

}  // namespace threadstore::state
