#include "threadstore/leases.h"

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "state/leases/lease_file.h"
#include "state/leases/lease_owner.h"
#include "state/leases/lease_token.h"
#include "state/store_context.h"
#include "threadstore/error.h"

namespace threadstore {

using state::LeaseLock;
using state::StoreContext;

namespace {

struct LeaseRow {
  LeaseToken token;
  LeaseOwner owner;
  UnixSeconds since = 0;
};

std::optional<LeaseRow> find_row(db::Session& session, LeaseKind kind, const std::string& id) {
  return session.one("SELECT slot, generation, owner, since FROM leases WHERE kind = ? AND id = ?",
                     {kind, id}, [](const db::Row& row) {
                       return LeaseRow{{.slot = row.integer(0), .generation = row.integer(1)},
                                       state::read_owner(row.view(2)),
                                       row.integer(3)};
                     });
}

[[noreturn]] void throw_held(LeaseKind kind, const std::string& id, const LeaseRow& row) {
  const std::string what = std::string(to_word(kind)) + " " + id;
  throw Error(ErrorCode::conflict,
              what + " is held by " + state::describe_owner(row.owner) +
                  "; wait for it, fork, follow read-only, or take the lease over",
              {{"kind", to_word(kind)},
               {"id", id},
               {"owner", state::owner_json(row.owner)},
               {"since", row.since}});
}

/// Makes the caller the holder under a slot that nobody ever had: the generation goes on from the
/// row that is replaced, and whatever lock its holder keeps is on a slot that means nothing now.
/// The lock is taken before the row can be seen, so a visible row without a lock is a dead holder.
LeaseToken replace_row(StoreContext& context, db::Session& session, LeaseKind kind,
                       const std::string& id, const std::string& program,
                       const std::optional<LeaseRow>& old, std::unique_ptr<LeaseLock>& lock) {
  state::drop_lease(session, kind, id);
  LeaseToken token;
  token.generation = old ? old->token.generation + 1 : 1;
  token.slot = session.insert(
      "INSERT INTO leases(kind, id, generation, owner, since) VALUES (?, ?, ?, ?, ?)",
      {kind, id, token.generation, state::write_owner(state::this_process(program)),
       context.now_seconds()});
  lock = context.leases->try_lock(token.slot);
  if (!lock) {
    throw Error(ErrorCode::conflict, "the lock of the new lease of " + id + " in " +
                                         context.leases->path().string() +
                                         " is taken: another store uses the same lease file");
  }
  return token;
}

}  // namespace

void state::check_token(db::Session& session, LeaseKind kind, const std::string& id,
                        const LeaseToken& token) {
  const auto row = find_row(session, kind, id);
  if (row && row->token == token) return;
  const std::string what = std::string(to_word(kind)) + " " + id;
  nlohmann::json details{{"kind", to_word(kind)}, {"id", id}};
  if (row) details.update({{"owner", owner_json(row->owner)}, {"since", row->since}});
  throw Error(ErrorCode::conflict,
              "cannot write to " + what + " with this lease: " +
                  (row ? "it was taken over by " + describe_owner(row->owner)
                       : std::string("it was released")) +
                  "; nothing was written",
              std::move(details));
}

void state::drop_lease(db::Session& session, LeaseKind kind, const std::string& id) {
  session.run("DELETE FROM leases WHERE kind = ? AND id = ?", {kind, id});
}

Leases::Leases(std::shared_ptr<StoreContext> context) : context_(std::move(context)) {}

Lease Leases::acquire(LeaseKind kind, const std::string& id, const std::string& program) {
  std::unique_ptr<LeaseLock> lock;
  const LeaseToken token = context_->write([&](db::Session& session) {
    const auto old = find_row(session, kind, id);
    if (old && context_->leases->is_held(old->token.slot)) throw_held(kind, id, *old);
    return replace_row(*context_, session, kind, id, program, old, lock);
  });
  return Lease(context_, token, std::move(lock));
}

Lease Leases::take_over(LeaseKind kind, const std::string& id, const std::string& program) {
  std::unique_ptr<LeaseLock> lock;
  const LeaseToken token = context_->write([&](db::Session& session) {
    return replace_row(*context_, session, kind, id, program, find_row(session, kind, id), lock);
  });
  return Lease(context_, token, std::move(lock));
}

std::optional<LeaseState> Leases::find(LeaseKind kind, const std::string& id) const {
  const auto row =
      context_->read([&](db::Session& session) { return find_row(session, kind, id); });
  if (!row) return std::nullopt;
  return LeaseState{.token = row->token,
                    .owner = row->owner,
                    .since = row->since,
                    .alive = context_->leases->is_held(row->token.slot)};
}

Lease::Lease(std::shared_ptr<StoreContext> context, LeaseToken token,
             std::unique_ptr<LeaseLock> lock)
    : context_(std::move(context)), token_(token), lock_(std::move(lock)) {}

Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  release();
  context_ = std::move(other.context_);
  token_ = other.token_;
  lock_ = std::move(other.lock_);
  return *this;
}

Lease::~Lease() { release(); }

bool Lease::still_held() const {
  if (!lock_) return false;
  return context_->read([&](db::Session& session) {
    return session.exists("SELECT 1 FROM leases WHERE slot = ? AND generation = ?",
                          {token_.slot, token_.generation});
  });
}

void Lease::release() noexcept {
  if (!lock_) return;
  try {
    context_->write([&](db::Session& session) {
      session.run("DELETE FROM leases WHERE slot = ? AND generation = ?",
                  {token_.slot, token_.generation});
    });
  } catch (const std::exception& error) {
    // The row stays and names a dead holder: the next one replaces it.
    base::log_warn(std::string("cannot remove the row of a released lease: ") + error.what());
  }
  lock_.reset();
  context_.reset();
}

}  // namespace threadstore
