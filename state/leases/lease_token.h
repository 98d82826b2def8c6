#pragma once

#include <string>

#include "state/db/session.h"
#include "threadstore/leases.h"

namespace threadstore::state {

/// For a write that carries a token, inside its transaction: throws `conflict`, naming who holds
/// the lease now, unless the token is the current one of that very thing.
void check_token(db::Session& session, LeaseKind kind, const std::string& id,
                 const LeaseToken& token);

/// Removes the lease of a thing that is being removed, in the transaction that removes it.
void drop_lease(db::Session& session, LeaseKind kind, const std::string& id);

}  // namespace threadstore::state
