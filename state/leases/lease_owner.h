#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "threadstore/leases.h"

namespace threadstore::state {

/// This process, as another terminal's user should read it.
LeaseOwner this_process(const std::string& program);

/// The text of the column `owner`, and back. What is missing or of another type reads as empty: the
/// owner is for people, never for deciding.
std::string write_owner(const LeaseOwner& owner);
LeaseOwner read_owner(std::string_view text);
nlohmann::json owner_json(const LeaseOwner& owner);

/// "chat (process 4711 on /dev/pts/3)", with the host when it is another one.
std::string describe_owner(const LeaseOwner& owner);

}  // namespace threadstore::state
