#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "threadstore/enum_names.h"
#include "threadstore/ids.h"
#include "threadstore/time.h"

namespace threadstore {

namespace state {
struct StoreContext;
class LeaseLock;
}  // namespace state

/// What a lease is about.
enum class LeaseKind { thread, job, run };

template <>
struct EnumNames<LeaseKind> {
  static constexpr std::array table{
      std::pair{LeaseKind::thread, std::string_view("thread")},
      std::pair{LeaseKind::job, std::string_view("job")},
      std::pair{LeaseKind::run, std::string_view("run")},
  };
};

/// Permission to write as the holder, carried by writes. Stale for ever once the lease was taken
/// over or released.
struct LeaseToken {
  std::int64_t slot = 0;
  std::int64_t generation = 0;

  friend bool operator==(const LeaseToken&, const LeaseToken&) = default;
};

/// Who holds a lease: for people to read, never for deciding.
struct LeaseOwner {
  std::string host;
  std::string boot_id;
  std::int64_t pid = 0;
  std::int64_t process_start = 0;  ///< clock ticks since boot
  std::string terminal;            ///< "/dev/pts/3", or empty
  std::string program;

  friend bool operator==(const LeaseOwner&, const LeaseOwner&) = default;
};

struct LeaseState {
  LeaseToken token;
  LeaseOwner owner;
  UnixSeconds since = 0;
  bool alive = false;  ///< the holder's process lives (a kernel lock says so, not the pid)
};

/// A held lease: freed by `release`, by the destructor, or by the kernel at the process's death.
/// Keeps the store open. Movable; use from one thread at a time.
class Lease {
 public:
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  ~Lease();

  const LeaseToken& token() const noexcept { return token_; }
  /// False after `release`, and once somebody has taken the lease over.
  bool still_held() const;
  /// Gives the lease back and removes its row, unless it was taken over. Never throws.
  void release() noexcept;

 private:
  friend class Leases;
  Lease(std::shared_ptr<state::StoreContext> context, LeaseToken token,
        std::unique_ptr<state::LeaseLock> lock);
  std::shared_ptr<state::StoreContext> context_;
  LeaseToken token_;
  std::unique_ptr<state::LeaseLock> lock_;
};

/// Who works on a thread, job or run now. A light handle like `Threads`. A lease protects against
/// nobody who does not ask: writes without a token are never refused.
class Leases {
 public:
  /// Takes the lease when nobody alive holds it (a dead holder is replaced at once), this process
  /// included. Does not ask whether such a thing exists.
  /// Throws `conflict` naming the holder (details: owner, since) when somebody alive does.
  Lease acquire(LeaseKind kind, const std::string& id, const std::string& program);

  /// Takes the lease from whoever holds it, alive or not: the old holder's token turns stale.
  Lease take_over(LeaseKind kind, const std::string& id, const std::string& program);

  /// Who took the lease of that thing last; nothing when nobody did or it was released.
  std::optional<LeaseState> find(LeaseKind kind, const std::string& id) const;

 private:
  friend class StateStore;
  friend class Jobs;
  friend class Runs;
  friend class Turns;
  explicit Leases(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
