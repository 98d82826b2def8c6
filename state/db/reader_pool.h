#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/deadline.h"
#include "state/db/connection.h"

namespace threadstore::db {

/// Reader connections, made when all are in use and kept afterwards (at most eight idle ones).
/// Thread-safe.
class ReaderPool {
 public:
  explicit ReaderPool(const Target& target) : target_(target) {}

  /// A connection for one read, given back at the end of the scope.
  class Borrowed {
   public:
    Borrowed(ReaderPool& pool, std::unique_ptr<Connection> connection)
        : pool_(pool), connection_(std::move(connection)) {}
    ~Borrowed() { pool_.give_back(std::move(connection_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Connection& operator*() const noexcept { return *connection_; }
    /// Does not go back to the pool: it failed in a way that a fresh one may not.
    void discard() noexcept { connection_.reset(); }

   private:
    ReaderPool& pool_;
    std::unique_ptr<Connection> connection_;
  };

  Borrowed borrow(base::Deadline deadline);
  void close_idle();

 private:
  static constexpr std::size_t kMostIdle = 8;
  void give_back(std::unique_ptr<Connection> connection);

  const Target& target_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace threadstore::db
