#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "state/doctor.h"
#include "state/runs/verify.h"
#include "threadstore/error.h"

// Whether every run is what its log says.
namespace threadstore::state {
namespace {

constexpr std::size_t kShown = 10;  // runs that a detail names

struct Place {
  std::string id;
  std::string workspace;
};

/// The run behind that one, over all workspaces.
std::optional<Place> next_run(StoreContext& context, const std::string& id) {
  return context.read([&](db::Session& session) {
    return session.one("SELECT id, workspace_id FROM runs WHERE id > ? ORDER BY id LIMIT 1", {id},
                       [](const db::Row& row) {
                         return Place{row.text(0), row.text(1)};
                       });
  });
}

/// What differs, as one line; empty when nothing does, or when nobody can tell just now: the run is
/// worked on, or went with its thread.
std::string difference_of(StoreContext& context, const Place& place) {
  const RunScope scope{.context = {std::shared_ptr<void>(), &context},
                       .workspace = place.workspace};
  try {
    const auto found = compare_run(scope, RunId(place.id)).differences;
    return found.ok() ? "" : place.id + " (" + found.what.front() + ")";
  } catch (const Error& error) {
    if (error.code() == ErrorCode::busy || error.code() == ErrorCode::not_found) return "";
    throw;
  }
}

}  // namespace

Check check_runs(StoreContext& context) {
  std::size_t count = 0;
  std::string shown;
  for (auto place = next_run(context, ""); place; place = next_run(context, place->id)) {
    const std::string difference = difference_of(context, *place);
    if (difference.empty()) continue;
    if (++count <= kShown) shown += (shown.empty() ? "" : ", ") + difference;
  }
  if (count == 0) return {.detail = "every run agrees with its log"};
  if (count > kShown) shown += ", …";
  return {.status = CheckStatus::failed,
          .detail = std::to_string(count) + (count == 1 ? " run differs" : " runs differ") +
                    " from what its log says: " + shown,
          .advice = "'threadstore run rebuild' makes a run again from its log"};
}

}  // namespace threadstore::state
