#include "state/db/reader_pool.h"

#include <utility>

namespace threadstore::db {

ReaderPool::Borrowed ReaderPool::borrow(base::Deadline deadline) {
  std::unique_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!connection) connection = std::make_unique<Connection>(target_, Role::reader);
  connection->set_deadline(deadline);
  return {*this, std::move(connection)};
}

void ReaderPool::give_back(std::unique_ptr<Connection> connection) {
  if (!connection) return;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

void ReaderPool::close_idle() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

}  // namespace threadstore::db
