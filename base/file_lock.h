#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "base/deadline.h"

namespace threadstore::base {

/// The lock on one lock file, of both families: flock(2), which programs built on it see, and a
/// POSIX record lock (Boost.Interprocess), which the others see. The two do not see each other.
///
/// Invariants
/// 1. One object per real path and process, made once and never destroyed: closing any descriptor
///    of the file would drop the process's POSIX lock.
/// 2. Inside the process one holder at a time, since a POSIX lock does not exclude threads.
/// 3. Order: the thread's turn, flock, the POSIX lock. Freed in reverse, by the kernel at death.
/// 4. The lock file is made 0600, never opened through a symbolic link, never removed. When
///    another program replaced it, the new file is locked.
/// Thread-safe. Not recursive: a thread that locks twice waits for itself until the deadline.
class FileLock {
 public:
  /// The process's lock object of this path. Its directory must exist; the file is made when it is
  /// missing. Throws `io`.
  static FileLock& at(const std::filesystem::path& file);

  /// Holding the lock; freed at the end of its life, in any thread.
  class Guard {
   public:
    Guard(Guard&& other) noexcept;
    Guard& operator=(Guard&&) = delete;
    ~Guard();

   private:
    friend class FileLock;
    explicit Guard(FileLock& lock) : lock_(&lock) {}
    FileLock* lock_;
  };

  /// Waits for the lock. Throws `busy`, naming the lock file and who holds it, past the deadline.
  Guard acquire(const Deadline& deadline);
  /// The lock when it is free now.
  std::optional<Guard> try_acquire();

  const std::filesystem::path& file() const noexcept;
  /// True when `path` names the lock's file now: cheaper than to ask `at` for it again.
  bool is_at(const std::filesystem::path& path) const;
  /// The descriptor that carries the flock: open as long as the process lives. For mapping the
  /// file, never for closing.
  int descriptor() const;

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  class Impl;
  explicit FileLock(std::unique_ptr<Impl> impl);
  ~FileLock();
  void release() noexcept;

  std::unique_ptr<Impl> impl_;
};

}  // namespace threadstore::base
