#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "state/leases/lease_token.h"
#include "state/store_context.h"
#include "threadstore/ids.h"
#include "threadstore/leases.h"

namespace threadstore::state {

/// What the groups of runs share: the store, the workspace that they see, and the lease that their
/// writes carry.
struct RunScope {
  struct Held {
    RunId run;
    LeaseToken token;
  };

  std::shared_ptr<StoreContext> context;
  std::string workspace;
  std::optional<Held> held{};

  /// The most bytes of one content that a caller gives.
  std::size_t most() const { return context->run_content_limit; }
  UnixMillis now() const { return context->now_millis(); }

  template <class Body>
  auto read(Body&& body) const {
    return context->read(std::forward<Body>(body));
  }

  /// One operation: a transaction that is refused as a whole when the lease turned stale.
  template <class Body>
  auto write(Body&& body) const {
    return context->write([&](db::Session& session) {
      check_held(session);
      return body(session);
    });
  }

  /// The same for a short one of about so many bytes, which may share its commit with those of
  /// other threads.
  template <class Body>
  auto write_shared(std::size_t bytes, Body&& body) const {
    return context->write_shared(bytes, [&](db::Session& session) {
      check_held(session);
      return body(session);
    });
  }

 private:
  void check_held(db::Session& session) const {
    if (held) check_token(session, LeaseKind::run, held->run.str(), held->token);
  }
};

}  // namespace threadstore::state
