#pragma once

#include <vector>

#include "state/search/search_query.h"
#include "state/search/searchable_text.h"
#include "threadstore/search.h"

namespace threadstore::state {

/// About 160 characters around the first place of any of the terms, in the content or else in the
/// item; every place of them therein is marked.
Snippet make_snippet(const SearchableMessage& message, const std::vector<SearchTerm>& terms);

}  // namespace threadstore::state
