#include "cli/output/index_json.h"

#include <vector>

namespace threadstore::cli {
namespace {

Json ids_json(const std::vector<ThreadId>& ids) {
  Json array = Json::array();
  for (const ThreadId& id : ids) array.push_back(id.str());
  return array;
}

}  // namespace

Json index_entry_json(const IndexEntry& entry) {
  return {{"thread_id", entry.thread_id.str()},
          {"thread_name", or_null(entry.thread_name)},
          {"updated_at", entry.updated_at},
          {"rollout_path", or_null(entry.rollout_path)}};
}

Json difference_json(const IndexDifference& difference, bool ok) {
  return {{"ok", ok},
          {"missing", ids_json(difference.missing)},
          {"extra", ids_json(difference.extra)},
          {"different", ids_json(difference.different)}};
}

}  // namespace threadstore::cli
