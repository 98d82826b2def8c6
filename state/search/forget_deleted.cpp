#include "state/search/forget_deleted.h"

#include <exception>
#include <string>

#include "base/log.h"
#include "state/search/search_index.h"

namespace threadstore::state {

bool forget_deleted_in_search(StoreContext& context) noexcept {
  try {
    if (!std::filesystem::exists(SearchIndex::file_of(context))) return true;
    with_search_index(context, [](SearchIndex& index) { index.forget_deleted(); });
    return true;
  } catch (const std::exception& failure) {
    base::log_warn(
        "deleted text stays in the search index for now ('threadstore search --rebuild' "
        "takes it out): " +
        std::string(failure.what()));
    return false;
  }
}

}  // namespace threadstore::state
