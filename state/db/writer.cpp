#include "state/db/writer.h"

#include <sqlite3.h>

#include <string>
#include <utility>

#include "state/db/database_users.h"
#include "state/db/sqlite_error.h"

namespace threadstore::db {
namespace {

/// Thrown when SQLite asks for the whole transaction to be run again.
struct RunAgain {};

}  // namespace

Writer::Writer(const StoreFile& file, const Options& options)
    : file_(file),
      options_(options),
      gate_(options.mode == Mode::memory ? nullptr : WriterGate::for_database(file.path())) {}

Writer::~Writer() = default;

Connection& Writer::connection() {
  if (connection_) return *connection_;
  connection_ = std::make_unique<Connection>(file_.target(), Role::writer);
  if (gate_) {
    keeper_ = std::make_unique<WalKeeper>(
        connection_->handle(), file_.path(),
        [this] {
          const auto guard = std::make_shared<Connection>(file_.target(), Role::guard);
          return ConnectionHandle(guard, guard->handle());
        },
        options_.notice);
  }
  return *connection_;
}

void Writer::write(const std::function<void(Session&)>& body) {
  if (in_transaction()) {
    run_nested(body);
  } else {
    run_outermost(body);
  }
}

std::unique_lock<FifoMutex> Writer::take_turn(base::Deadline deadline) {
  if (turn_.lock(deadline)) return {turn_, std::adopt_lock};
  throw Error(ErrorCode::busy, "cannot write to " + file_.path().string() +
                                   ": another thread of this process kept its transaction open "
                                   "past the deadline; nothing was changed, try again");
}

void Writer::run_outermost(const std::function<void(Session&)>& body) {
  const auto deadline = base::Deadline::after(options_.deadline);
  std::vector<std::function<void()>> actions;
  {
    const auto turn = take_turn(deadline);
    file_.check_in_place();
    std::unique_lock<WriterGate> gate;
    if (gate_) {
      gate_->lock(deadline);
      gate = std::unique_lock(*gate_, std::adopt_lock);
    }
    for (bool done = false; !done;) {
      begin(deadline);
      try {
        Session session(connection());
        body(session);
        commit();
        done = true;
      } catch (const RunAgain&) {
        roll_back();
        if (deadline.expired())
          throw_sqlite(SQLITE_BUSY, nullptr, "write to", file_.path().string());
      } catch (...) {
        roll_back();
        throw;
      }
    }
    actions.swap(after_commit_);
    if (keeper_) keeper_->after_commit(deadline);
  }
  for (const auto& action : actions) action();
}

void Writer::begin(base::Deadline deadline) {
  Connection& writer = connection();
  writer.set_deadline(deadline);
  const int code = writer.try_run("BEGIN IMMEDIATE");
  if ((code & 0xff) == SQLITE_BUSY) throw_busy();
  if (code != SQLITE_OK) throw_sqlite(code, writer.handle(), "write to", file_.path().string());
  writer.require_transaction(true);
  after_commit_.clear();
  depth_ = 1;
  owner_ = std::this_thread::get_id();
}

void Writer::throw_busy() const {
  std::string holder = who_writes(file_.path());
  if (holder.empty()) holder = "another program";
  throw Error(ErrorCode::busy, "cannot write to " + file_.path().string() + ": " + holder +
                                   " kept its write lock past the deadline; nothing was changed, "
                                   "try again when it has finished, or end it");
}

void Writer::commit() {
  Connection& writer = *connection_;
  if (sqlite3_get_autocommit(writer.handle()) != 0) {
    throw Error(IoReason::other, "cannot write to " + file_.path().string() +
                                     ": an earlier failure rolled the transaction back; nothing of "
                                     "it was stored");
  }
  const int code = writer.try_run("COMMIT");
  if (code == SQLITE_OK) {
    writer.require_transaction(false);
    depth_ = 0;
    owner_ = std::thread::id();
    return;
  }
  if (code == SQLITE_BUSY_SNAPSHOT) throw RunAgain();
  if (!leaves_commit_unknown(code)) {
    throw_sqlite(code, writer.handle(), "write to", file_.path().string());
  }
  const Error cause = sqlite_error(code, writer.handle(), "commit to", file_.path().string());
  throw Error(ErrorCode::unknown_outcome,
              std::string(cause.what()) +
                  "; whether the change was stored is not known until the store is read again. A "
                  "retry with the same idempotency key is safe");
}

void Writer::roll_back() noexcept {
  if (!connection_) return;
  connection_->require_transaction(false);
  bool usable = true;
  if (sqlite3_get_autocommit(connection_->handle()) == 0) {
    usable = connection_->try_run("ROLLBACK") == SQLITE_OK;
  }
  // After an I/O error the connection's own view of the file cannot be trusted (invariant 3).
  const int code = sqlite3_errcode(connection_->handle()) & 0xff;
  if (!usable || code == SQLITE_IOERR) {
    keeper_.reset();
    connection_.reset();
  }
  after_commit_.clear();
  depth_ = 0;
  owner_ = std::thread::id();
}

void Writer::run_nested(const std::function<void(Session&)>& body) {
  const std::string name = "nested_" + std::to_string(depth_);
  const std::size_t actions = after_commit_.size();
  connection_->run(("SAVEPOINT " + name), "write to");
  ++depth_;
  try {
    Session session(*connection_);
    body(session);
    connection_->run(("RELEASE " + name), "write to");
    --depth_;
  } catch (...) {
    --depth_;
    after_commit_.resize(actions);
    // When SQLite rolled everything back by itself there is no savepoint left; the outermost
    // transaction then refuses to go on (Connection::require_transaction).
    connection_->try_run("ROLLBACK TO " + name);
    connection_->try_run("RELEASE " + name);
    throw;
  }
}

void Writer::read_inside(const std::function<void(Session&)>& body) {
  Session session(*connection_);
  body(session);
}

void Writer::after_commit(std::function<void()> action) {
  if (!in_transaction()) {
    action();
    return;
  }
  after_commit_.push_back(std::move(action));
}

bool Writer::scrub_wal() {
  const auto deadline = base::Deadline::after(options_.deadline);
  const auto turn = take_turn(deadline);
  file_.check_in_place();
  connection();
  if (!keeper_) return true;
  gate_->lock(deadline);
  const std::unique_lock gate(*gate_, std::adopt_lock);
  return keeper_->scrub(deadline);
}

}  // namespace threadstore::db
