#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/sync/file_lock.hpp>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/files.h"
#include "base/lock_holders.h"
#include "threadstore/error.h"

namespace threadstore::base {
namespace {

using PosixLock = boost::interprocess::file_lock;
constexpr std::chrono::microseconds first_pause{50};
constexpr std::chrono::microseconds longest_pause{2000};

/// Boost opens a descriptor of its own, without O_CLOEXEC and with no way to ask for it: find it
/// by the file that it is open on.
void close_on_exec(const FileStatus& file) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && status.st_dev == file.device &&
        status.st_ino == file.inode) {
      ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
  }
}

/// The two locks on one inode. Both descriptors stay open for the life of the process.
struct LockPair {
  int flock_descriptor;
  FileStatus file;
  PosixLock posix;
};

PosixLock open_posix_lock(const std::filesystem::path& file, int descriptor) {
  try {
    // Through /proc the very file that is open already, even if the name changed meanwhile.
    return PosixLock(("/proc/self/fd/" + std::to_string(descriptor)).c_str());
  } catch (const boost::interprocess::interprocess_exception&) {
  }
  try {
    return PosixLock(file.c_str());
  } catch (const boost::interprocess::interprocess_exception& e) {
    throw_io("open the lock file", file, e.get_native_error());
  }
}

LockPair open_pair(const std::filesystem::path& file) {
  File opened = File::open_or_create(file, O_RDWR | O_NOFOLLOW);
  LockPair pair{.flock_descriptor = opened.descriptor(),
                .file = opened.status(),
                .posix = open_posix_lock(file, opened.descriptor())};
  close_on_exec(pair.file);
  opened.release();
  return pair;
}

}  // namespace

class FileLock::Impl {
 public:
  explicit Impl(std::filesystem::path file) : file_(std::move(file)), pair_(open_pair(file_)) {}

  const std::filesystem::path& file() const { return file_; }
  bool is_at(const std::filesystem::path& path) {
    const std::optional<FileStatus> now = file_status(path);
    const std::lock_guard lock(turn_mutex_);
    return now && now->same_file(pair_.file);
  }
  int descriptor() const { return pair_.flock_descriptor; }

  /// Invariant 3. Gives everything back when it cannot have all before the deadline.
  bool lock_until(const Deadline& deadline) {
    if (!take_turn(deadline)) return false;
    try {
      while (lock_pair(deadline)) {
        if (names_our_file()) return true;
        unlock_pair();
        // The old descriptors stay open, as invariant 1 asks; replacements are rare.
        forget_pair_and_open_anew();
      }
    } catch (...) {
      unlock();  // harmless for what is not locked
      throw;
    }
    give_turn();
    return false;
  }

  void unlock() noexcept {
    unlock_pair();
    give_turn();
  }

 private:
  bool take_turn(const Deadline& deadline) {
    std::unique_lock lock(turn_mutex_);
    if (!turn_free_.wait_until(lock, deadline.at(), [&] { return !taken_; })) return false;
    taken_ = true;
    return true;
  }

  void give_turn() noexcept {
    {
      const std::lock_guard lock(turn_mutex_);
      taken_ = false;
    }
    turn_free_.notify_one();
  }

  bool lock_pair(const Deadline& deadline) {
    if (!poll(deadline, [&] { return try_flock(); })) return false;
    bool locked = false;
    try {
      locked = poll(deadline, [&] { return pair_.posix.try_lock(); });
    } catch (const boost::interprocess::interprocess_exception& e) {
      ::flock(pair_.flock_descriptor, LOCK_UN);
      throw_io("lock", file_, e.get_native_error());
    }
    if (!locked) ::flock(pair_.flock_descriptor, LOCK_UN);
    return locked;
  }

  void unlock_pair() noexcept {
    try {
      pair_.posix.unlock();
    } catch (const boost::interprocess::interprocess_exception&) {
      // Unlocking an open descriptor does not fail; if it did, the kernel frees it at our end.
    }
    ::flock(pair_.flock_descriptor, LOCK_UN);
  }

  bool try_flock() {
    for (;;) {
      if (::flock(pair_.flock_descriptor, LOCK_EX | LOCK_NB) == 0) return true;
      if (errno == EWOULDBLOCK) return false;
      if (errno != EINTR) throw_io("lock", file_, errno);
    }
  }

  /// Tries at least once, and often at first: most holders are done within a disk's sync.
  template <class Try>
  static bool poll(const Deadline& deadline, Try&& attempt) {
    for (auto pause = first_pause;; pause = std::min(2 * pause, longest_pause)) {
      if (attempt()) return true;
      if (deadline.expired()) return false;
      std::this_thread::sleep_for(pause);
    }
  }

  bool names_our_file() const {
    const std::optional<FileStatus> now = file_status(file_);
    return now && now->same_file(pair_.file);
  }

  void forget_pair_and_open_anew() {
    LockPair fresh = open_pair(file_);
    static auto* retired = new std::vector<LockPair>;
    static std::mutex mutex;
    const std::scoped_lock lock(mutex, turn_mutex_);
    retired->push_back(std::exchange(pair_, std::move(fresh)));
  }

  std::filesystem::path file_;
  LockPair pair_;  ///< changed by the holder of the turn, under the mutex
  std::mutex turn_mutex_;
  std::condition_variable turn_free_;
  bool taken_ = false;
};

FileLock::FileLock(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileLock::~FileLock() = default;

FileLock& FileLock::at(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::canonical(file.has_parent_path() ? file.parent_path() : ".", error);
  if (error) throw_io("open the directory of", file, error.value());
  const std::filesystem::path real = parent / file.filename();

  static std::mutex mutex;
  static auto* locks = new std::map<std::filesystem::path, FileLock*>;
  const std::lock_guard lock(mutex);
  FileLock*& known = (*locks)[real];
  if (known == nullptr) known = new FileLock(std::make_unique<Impl>(real));
  return *known;
}

FileLock::Guard FileLock::acquire(const Deadline& deadline) {
  if (impl_->lock_until(deadline)) return Guard(*this);
  const std::string holders = describe_lock_holders(impl_->file());
  throw Error(ErrorCode::busy, "the lock " + impl_->file().string() +
                                   " did not become free in time" +
                                   (holders.empty() ? "" : "; held by " + holders) +
                                   "; try again when it is released");
}

std::optional<FileLock::Guard> FileLock::try_acquire() {
  if (!impl_->lock_until(Deadline::after(std::chrono::milliseconds(0)))) return std::nullopt;
  return Guard(*this);
}

const std::filesystem::path& FileLock::file() const noexcept { return impl_->file(); }
bool FileLock::is_at(const std::filesystem::path& path) const { return impl_->is_at(path); }
int FileLock::descriptor() const { return impl_->descriptor(); }
void FileLock::release() noexcept { impl_->unlock(); }

FileLock::Guard::Guard(Guard&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
FileLock::Guard::~Guard() {
  if (lock_ != nullptr) lock_->release();
}

}  // namespace threadstore::base
