#pragma once

#include <optional>
#include <string>

#include "cli/output/json.h"
#include "threadstore/leases.h"

namespace threadstore::cli {

/// "held_by": null when nobody alive holds it, else who does.
Json held_by_json(const std::optional<LeaseState>& lease);

/// "threadstore chat, process 4711 on /dev/pts/3"; with the host where it is another one.
std::string shown_owner(const LeaseOwner& owner);

}  // namespace threadstore::cli
