#include "state/db/gate.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "base/lock_holders.h"
#include "threadstore/error.h"

namespace threadstore::db {

// Tickets count round the 32 bits: they are only ever compared by their (unsigned) distance.
struct WriterGate::Hints {
  std::atomic<std::uint32_t> next;         // the ticket that the next waiter draws
  std::atomic<std::uint32_t> serving;      // the ticket whose turn it is; its owner is the head
  std::atomic<std::uint32_t> wake;         // the head sleeps on it, unlock() changes it
  std::atomic<std::uint32_t> head_sleeps;  // not 0: unlock() has somebody to wake
  std::atomic<std::uint32_t> skips;        // skipped tickets in a row since a waiter got in
};

namespace {

using namespace std::chrono_literals;
using Clock = base::Deadline::Clock;

constexpr std::size_t kMapping = 4096;
constexpr auto kStall = 20ms;    // no progress for so long, and flock free: a waiter is dead
constexpr auto kHeadWait = 2ms;  // the head looks itself so often: foreign holders wake nobody
constexpr std::uint32_t kLongestQueue = 1024;  // a larger distance is no queue but a wild hint
constexpr std::uint32_t kMostDoublings = 10;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Each ticket has one of 32 bits, so that the next waiter is woken and not the whole queue.
std::uint32_t bit_of(std::uint32_t ticket) { return 1U << (ticket & 31U); }

// Sleeps while `word` is `expected`, at most until `until`; may return early.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Clock::time_point until,
                std::uint32_t bits) {
  const auto since_boot = until.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  const timespec at{
      .tv_sec = static_cast<std::time_t>(seconds.count()),
      .tv_nsec = static_cast<long>(std::chrono::nanoseconds(since_boot - seconds).count())};
  if (::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, expected, &at, nullptr, bits) == 0) return;
  if (errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) return;
  std::this_thread::sleep_for(1ms);  // no futex here (a sandbox): the same loops, by polling
}

void futex_wake(std::atomic<std::uint32_t>& word, int count, std::uint32_t bits) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, count, nullptr, nullptr, bits);
}

// Created with its blocks on the disk: a store into a mapped hole on a full disk is a SIGBUS.
bool has_room(int descriptor, const struct stat& status) {
  return status.st_size >= static_cast<off_t>(kMapping) ||
         ::posix_fallocate(descriptor, 0, kMapping) == 0;
}

}  // namespace

std::shared_ptr<WriterGate> WriterGate::for_database(const std::filesystem::path& database) {
  static std::mutex mutex;
  static auto& gates = *new std::map<std::filesystem::path, std::shared_ptr<WriterGate>>;
  std::error_code unreadable;
  std::filesystem::path real = std::filesystem::weakly_canonical(database, unreadable);
  if (unreadable) real = std::filesystem::absolute(database);
  const std::lock_guard guard(mutex);
  std::shared_ptr<WriterGate>& gate = gates[real];
  if (!gate) gate = std::make_shared<WriterGate>(real.string() + ".gate");
  return gate;
}

WriterGate::WriterGate(std::filesystem::path file) : file_(std::move(file)) {}

WriterGate::~WriterGate() { close_file(); }

void WriterGate::close_file() noexcept {
  if (hints_ != nullptr) ::munmap(hints_, kMapping);
  if (descriptor_ >= 0) ::close(descriptor_);  // flock is not dropped by closing another descriptor
  hints_ = nullptr;
  descriptor_ = -1;
}

// Opens the file at the first lock, and again when it was unlinked or cut, or could not be made
// before. In a read-only directory an existing gate still locks, without hints.
void WriterGate::prepare_file() {
  struct stat status {};
  if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && status.st_nlink > 0 &&
      (hints_ == nullptr || status.st_size >= static_cast<off_t>(kMapping))) {
    return;
  }
  close_file();
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  bool writable = true;
  descriptor_ = ::open(file_.c_str(), flags | O_RDWR | O_CREAT, 0600);
  if (descriptor_ < 0) {
    writable = false;
    descriptor_ = ::open(file_.c_str(), flags | O_RDONLY);
  }
  if (descriptor_ < 0) return;
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close_file();
    return;
  }
  if (!writable || !has_room(descriptor_, status)) return;
  void* const memory =
      ::mmap(nullptr, kMapping, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory != MAP_FAILED) hints_ = static_cast<Hints*>(memory);
}

void WriterGate::lock(const base::Deadline& deadline) {
  const Clock::time_point start = Clock::now();
  const auto busy = [&](const std::string& holder) {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    return Error(ErrorCode::busy, "cannot write: waited " + std::to_string(waited.count()) +
                                      " ms for " + file_.string() + ", held by " +
                                      (holder.empty() ? "another process" : holder) +
                                      "; try again, or end that process if it hangs");
  };
  if (!turn_.lock(deadline)) throw busy("another thread of this process");
  prepare_file();
  if (enter(deadline)) return;
  turn_.unlock();
  throw busy(base::describe_lock_holders(file_));
}

void WriterGate::unlock() noexcept {
  release_flock();
  turn_.unlock();
}

bool WriterGate::enter(const base::Deadline& deadline) {
  if (hints_ == nullptr) return enter_by_polling(deadline);
  if (hints_->next.load() == hints_->serving.load() && try_flock()) return true;

  const std::uint32_t ticket = hints_->next.fetch_add(1);
  if (!wait_for_turn(ticket, deadline)) {
    // The newest ticket can be given back; an older one is skipped by those behind it.
    std::uint32_t after = ticket + 1;
    hints_->next.compare_exchange_strong(after, ticket);
    return false;
  }
  const bool inside = enter_as_head(deadline);
  hints_->head_sleeps.store(0);
  if (inside) hints_->skips.store(0);
  let_next_in(ticket);
  return inside;
}

bool WriterGate::wait_for_turn(std::uint32_t ticket, const base::Deadline& deadline) {
  for (;;) {
    const std::uint32_t serving = hints_->serving.load();
    const std::uint32_t ahead = ticket - serving;
    // Skipped tickets and wild hints make a distance beyond every queue: then we are a head too,
    // and flock alone decides.
    if (ahead == 0 || ahead > kLongestQueue) return true;
    if (deadline.expired()) return false;
    const Clock::time_point stalled = Clock::now() + kStall;
    futex_wait(hints_->serving, serving, std::min(deadline.at(), stalled), bit_of(ticket));
    if (hints_->serving.load() == serving && Clock::now() >= stalled) {
      skip_dead_ticket(serving, ticket);
    }
  }
}

// The flock is taken for a moment: as long as somebody holds it there is no stall. One ticket goes
// first; if nobody comes forward after 20 ms again, two, four … of those ahead of us: a long queue
// of the dead, or one that never was, ends soon.
void WriterGate::skip_dead_ticket(std::uint32_t serving, std::uint32_t mine) {
  if (!try_flock()) return;
  const std::uint32_t doublings = std::min(hints_->skips.fetch_add(1), kMostDoublings);
  const std::uint32_t skipped = std::min(1U << doublings, mine - serving);
  std::uint32_t seen = serving;
  hints_->serving.compare_exchange_strong(seen, serving + skipped);
  release_flock();
  futex_wake(hints_->serving, INT_MAX, FUTEX_BITSET_MATCH_ANY);
}

bool WriterGate::enter_as_head(const base::Deadline& deadline) {
  for (;;) {
    const std::uint32_t word = hints_->wake.load();
    hints_->head_sleeps.store(1);
    if (try_flock()) return true;
    if (deadline.expired()) return false;
    futex_wait(hints_->wake, word, std::min(deadline.at(), Clock::now() + kHeadWait),
               FUTEX_BITSET_MATCH_ANY);
  }
}

// Called by the head as soon as it is in, so that the next one is awake before the release.
void WriterGate::let_next_in(std::uint32_t ticket) {
  const std::uint32_t following = ticket + 1;
  std::uint32_t serving = hints_->serving.load();
  while (serving - following > kLongestQueue &&
         !hints_->serving.compare_exchange_weak(serving, following)) {
  }
  if (hints_->next.load() != following) {
    futex_wake(hints_->serving, INT_MAX, bit_of(following));
  }
}

bool WriterGate::enter_by_polling(const base::Deadline& deadline) {
  thread_local std::minstd_rand random{std::random_device{}()};
  std::uniform_int_distribution<int> microseconds(500, 2000);
  while (!try_flock()) {
    if (deadline.expired()) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(random)));
  }
  return true;
}

// True also when there is nothing to lock, or a file system that cannot: nobody is kept out.
bool WriterGate::try_flock() noexcept {
  if (descriptor_ < 0) return true;
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno != EWOULDBLOCK;
  }
  return true;
}

void WriterGate::release_flock() noexcept {
  if (descriptor_ >= 0) ::flock(descriptor_, LOCK_UN);
  if (hints_ == nullptr || hints_->head_sleeps.load() == 0) return;
  hints_->wake.fetch_add(1);
  futex_wake(hints_->wake, 1, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace threadstore::db
