#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/deadline.h"
#include "state/db/fifo_mutex.h"

namespace threadstore::db {

/// Lets the writers of one database in, of all processes, in the order of their arrival. It is
/// taken before BEGIN IMMEDIATE, because SQLite's own waiting starves some of them.
///
/// It is for fairness, never for correctness: foreign programs do not know it, and where the
/// system gives no lock (no space, no permission, no flock) writers go on without it.
///
/// Invariants
/// 1. Who holds flock(2) on `<database>.gate` has the gate; the kernel frees it when he dies.
/// 2. The 4 KiB of the file hold only hints about whose turn is next. Any content is valid; it
///    costs order, and time up to a few rounds of 20 ms, never exclusion or progress.
/// 3. The file is never unlinked by us. If somebody else did, the next lock() makes a new one.
///
/// Thread-safe: threads of one process wait in a FIFO of their own, and the first of them queues
/// among the processes. Not recursive. After fork(2) only exec: a child shares the lock.
class WriterGate {
 public:
  /// The gate of a database, one per real path and process, alive until the process ends. The
  /// database need not exist yet, its directory must. Where no file can be made
  /// the writers of other processes are not waited for.
  static std::shared_ptr<WriterGate> for_database(const std::filesystem::path& database);

  /// Waits for the turn. Throws `busy`, naming file and holder, when the deadline passes first.
  /// Then: `std::unique_lock hold(*gate, std::adopt_lock)` to unlock on every path.
  void lock(const base::Deadline& deadline);
  void unlock() noexcept;

  const std::filesystem::path& file() const noexcept { return file_; }

  explicit WriterGate(std::filesystem::path file);
  ~WriterGate();
  WriterGate(const WriterGate&) = delete;
  WriterGate& operator=(const WriterGate&) = delete;

 private:
  struct Hints;

  void prepare_file();
  void close_file() noexcept;
  bool enter(const base::Deadline& deadline);
  bool enter_by_polling(const base::Deadline& deadline);
  bool wait_for_turn(std::uint32_t ticket, const base::Deadline& deadline);
  bool enter_as_head(const base::Deadline& deadline);
  void skip_dead_ticket(std::uint32_t serving, std::uint32_t mine);
  void let_next_in(std::uint32_t ticket);
  bool try_flock() noexcept;
  void release_flock() noexcept;

  const std::filesystem::path file_;
  FifoMutex turn_;          // guards what follows
  int descriptor_ = -1;     // -1: there is no gate file; nobody is kept out
  Hints* hints_ = nullptr;  // null: poll
};

}  // namespace threadstore::db
