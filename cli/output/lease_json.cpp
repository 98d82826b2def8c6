#include "cli/output/lease_json.h"

namespace threadstore::cli {

Json held_by_json(const std::optional<LeaseState>& lease) {
  if (!lease || !lease->alive) return nullptr;
  const LeaseOwner& owner = lease->owner;
  return {{"host", owner.host},
          {"pid", owner.pid},
          {"terminal", owner.terminal.empty() ? Json(nullptr) : Json(owner.terminal)},
          {"program", owner.program},
          {"since", lease->since}};
}

std::string shown_owner(const LeaseOwner& owner) {
  std::string shown = owner.program + ", process " + std::to_string(owner.pid);
  if (!owner.terminal.empty()) shown += " on " + owner.terminal;
  return shown;
}

}  // namespace threadstore::cli
