#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "base/deadline.h"
#include "state/db/session.h"
#include "threadstore/time.h"

namespace threadstore::db {

enum class Mode { read_write, read_only, memory };

struct Options {
  Mode mode = Mode::read_write;
  std::chrono::milliseconds deadline{5000};
  std::function<void(const std::string&)> notice{};
  /// Looks at the file before anything in it is changed, the journal mode included; what it throws
  /// refuses the file. Not asked again when this process has the file open already.
  std::function<void(Session&)> inspect{};
};

/// One database file, shared by every store of this process that opens it: one writer connection
/// behind a mutex and the writer gate, and reader connections that never wait for a writer.
///
/// Invariants
/// 1. A write holds: the thread's turn (mutex), the gate, BEGIN IMMEDIATE, in this order; one
///    deadline covers all three.
/// 2. Nothing stays open between operations: no statement, no snapshot.
/// 3. No code of ours ever opens or closes a descriptor of the database, its -wal or its -shm.
/// Thread-safe.
class Database {
 public:
  /// Opens the file (made 0600, in directories made 0700, when missing and mode allows), or hands
  /// out the one that this process has open already.
  static std::shared_ptr<Database> open(const std::filesystem::path& file, const Options& options);

  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs `body(Session&)` on one consistent snapshot and returns what it returns. Inside a write
  /// of this thread it runs in that transaction and sees its writes.
  template <class Body>
  auto read(Body&& body) {
    return with_result<std::invoke_result_t<Body, Session&>>(
        [&](const std::function<void(Session&)>& run) { run_read(run); }, body);
  }

  /// Runs `body(Session&)` in BEGIN IMMEDIATE … COMMIT: all or, when it throws, nothing. Inside a
  /// write of this thread it is a savepoint. Durable when the outermost returns.
  template <class Body>
  auto write(Body&& body) {
    return with_result<std::invoke_result_t<Body, Session&>>(
        [&](const std::function<void(Session&)>& run) { run_write(run); }, body);
  }

  /// The same for a short write that other threads' writes may share a commit with: durable when it
  /// returns, in the order of the calls, and one call's failure is its own. `body` may run on
  /// another thread, while this one waits. `bytes` is about what it writes.
  template <class Body>
  auto write_shared(std::size_t bytes, Body&& body) {
    return with_result<std::invoke_result_t<Body, Session&>>(
        [&](const std::function<void(Session&)>& run) { run_shared(bytes, run); }, body);
  }

  /// True on a thread whose write transaction is open.
  bool in_transaction() const;

  /// Runs `action` after the outermost commit of this thread's transaction (at once when there is
  /// none), with nothing locked. Dropped on rollback. It must not throw.
  void after_commit(std::function<void()> action);

  /// A number that changes when another connection, of any process, commits (data_version).
  std::int64_t change_counter();

  /// Consistent copy by VACUUM INTO, made 0600 under a temporary name, synced, renamed.
  void copy_to(const std::filesystem::path& target);

  /// Drains the WAL and resets it, so that deleted text leaves it. False when readers or another
  /// program's writer prevented it.
  bool scrub_wal();

  const std::filesystem::path& file() const noexcept;
  Mode mode() const noexcept;
  /// True when this object created the database file.
  bool created() const noexcept;
  std::chrono::milliseconds deadline() const noexcept;

 private:
  class Impl;
  explicit Database(std::unique_ptr<Impl> impl);

  void run_read(const std::function<void(Session&)>& body);
  void run_write(const std::function<void(Session&)>& body);
  void run_shared(std::size_t bytes, const std::function<void(Session&)>& body);
  void refuse_when_read_only() const;

  template <class Result, class Run, class Body>
  static Result with_result(Run&& run, Body& body) {
    if constexpr (std::is_void_v<Result>) {
      run([&](Session& session) { body(session); });
    } else {
      std::optional<Result> result;
      // A transaction may run twice (SQLITE_BUSY_SNAPSHOT): the last result counts.
      run([&](Session& session) { result.emplace(body(session)); });
      return std::move(*result);
    }
  }

  std::unique_ptr<Impl> impl_;
};

}  // namespace threadstore::db
