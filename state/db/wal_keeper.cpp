#include "state/db/wal_keeper.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>

#include "state/db/database_users.h"

namespace threadstore::db {
namespace {

using namespace std::chrono_literals;

constexpr int kCheckpointFrames = 1'000;
constexpr int kDrainFrames = 4'000;
constexpr int kUrgentFrames = 8'000;
constexpr auto kDrainBudget = 100ms;
constexpr auto kUrgentBudget = 500ms;
constexpr auto kOverrun = 100ms;  // granted beyond a caller's deadline
constexpr auto kBetweenAttempts = 1ms;
constexpr auto kShortestPause = 3ms;  // about one snapshot of a reader
constexpr auto kLongestPause = 150ms;
constexpr int kWriteLockWait = 50;  // ms; longer means a foreign writer is at work
constexpr std::int64_t kFirstWarning = 64LL << 20;
constexpr std::int64_t kWalHeader = 32;
constexpr std::int64_t kFrameHeader = 24;

bool run(sqlite3* connection, const char* sql) {
  return sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

// The value of a pragma that yields one integer.
std::optional<std::int64_t> pragma(sqlite3* connection, const char* sql) {
  std::optional<std::int64_t> value;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection, sql, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    value = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return value;
}

// The bytes of a WAL file with so many frames.
std::int64_t wal_bytes(sqlite3* connection, int frames) {
  const std::int64_t page = pragma(connection, "PRAGMA main.page_size").value_or(0);
  return kWalHeader + frames * (page + kFrameHeader);
}

std::filesystem::path beside(const std::filesystem::path& database, const char* suffix) {
  return database.string() + suffix;
}

std::int64_t size_of(const std::filesystem::path& file) {
  struct stat status {};  // stat, never open: closing a descriptor would drop SQLite's locks
  return ::stat(file.c_str(), &status) == 0 ? status.st_size : 0;
}

}  // namespace

void never_checkpoint(sqlite3* connection) {
  sqlite3_wal_autocheckpoint(connection, 0);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

// Holds BEGIN IMMEDIATE on the guard connection, or, when it was not free soon, nothing.
class WalKeeper::WriteLock {
 public:
  explicit WriteLock(sqlite3* guard)
      : guard_(guard != nullptr && run(guard, "BEGIN IMMEDIATE") ? guard : nullptr) {}
  ~WriteLock() {
    if (guard_ != nullptr) run(guard_, "ROLLBACK");
  }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  explicit operator bool() const { return guard_ != nullptr; }

 private:
  sqlite3* guard_;
};

WalKeeper::WalKeeper(sqlite3* writer, std::filesystem::path database, Open open, Warn warn)
    : writer_(writer),
      database_(std::move(database)),
      open_(std::move(open)),
      warn_(std::move(warn)),
      warn_above_(kFirstWarning) {
  sqlite3_wal_hook(writer_, &WalKeeper::remember_frames, this);
}

WalKeeper::~WalKeeper() { sqlite3_wal_autocheckpoint(writer_, 0); }

int WalKeeper::remember_frames(void* self, sqlite3*, const char*, int frames) {
  static_cast<WalKeeper*>(self)->frames_ = frames;
  return SQLITE_OK;
}

sqlite3* WalKeeper::guard() {
  if (!guard_) {
    guard_ = open_();
    never_checkpoint(guard_.get());
    sqlite3_wal_hook(guard_.get(), &WalKeeper::remember_frames, this);
    sqlite3_busy_timeout(guard_.get(), kWriteLockWait);
  }
  return guard_.get();
}

void WalKeeper::after_commit(const base::Deadline& deadline) noexcept try {
  if (frames_ < attempted_at_) attempted_at_ = not_before_ = 0;  // the WAL was reset meanwhile
  if (frames_ < kCheckpointFrames || frames_ < not_before_) return;
  warn_when_large();
  const int before = attempted_at_ = frames_;
  if (before < kDrainFrames) {
    not_before_ = before + kCheckpointFrames;
    if (const WriteLock lock(guard()); lock) checkpoint();
    return;
  }
  not_before_ = before + std::max(kCheckpointFrames, before / 4);
  const Clock::time_point now = Clock::now();
  const auto budget = before < kUrgentFrames ? kDrainBudget : kUrgentBudget;
  drain(std::min(now + budget, std::max(deadline.at(), now + kOverrun)));
} catch (const std::exception& error) {
  report(error.what());
}

bool WalKeeper::scrub(const base::Deadline& deadline) noexcept try {
  if (size_of(beside(database_, "-wal")) == 0) return true;
  const auto limit = pragma(guard(), "PRAGMA main.journal_size_limit").value_or(-1);
  run(guard(), "PRAGMA main.journal_size_limit = 0");  // the commit that resets cuts the file
  const Clock::time_point now = Clock::now();
  const bool drained =
      drain(std::min(now + kUrgentBudget, std::max(deadline.at(), now + kOverrun)));
  run(guard(), ("PRAGMA main.journal_size_limit = " + std::to_string(limit)).c_str());
  return drained && file_is_cut();
} catch (const std::exception& error) {
  report(error.what());
  return false;
}

// With the write lock held. Busy is another program's checkpoint: ours is partial then.
WalKeeper::Progress WalKeeper::checkpoint() {
  int in_log = -1;
  int moved = -1;
  const int code =
      sqlite3_wal_checkpoint_v2(writer_, "main", SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) report(sqlite3_errmsg(writer_));
  return {.complete = code == SQLITE_OK && in_log == moved, .frames = in_log};
}

WalKeeper::Progress WalKeeper::checkpoint_until_complete(Clock::time_point end) {
  Progress progress = checkpoint();
  while (!progress.complete && Clock::now() < end) {
    std::this_thread::sleep_for(kBetweenAttempts);
    progress = checkpoint();
  }
  return progress;
}

// Once all frames are moved, new readers read the database only. Those who came before still use
// the WAL, and as long as one does, a commit appends to it. How long it took them to let the
// checkpoint finish tells how long their snapshots last.
bool WalKeeper::drain(Clock::time_point end) {
  auto pause = std::chrono::duration_cast<Clock::duration>(kShortestPause);
  for (;;) {
    Progress progress;
    {
      const WriteLock lock(guard());
      if (!lock) return false;
      const Clock::time_point start = Clock::now();
      progress = checkpoint_until_complete(end);
      if (!progress.complete) return false;
      if (progress.frames < 0) return true;  // no WAL
      pause = std::min<Clock::duration>(std::max(pause, Clock::now() - start), kLongestPause);
      std::this_thread::sleep_for(pause);
    }
    if (!commit_nothing()) return false;
    if (frames_ <= std::max(progress.frames, 1)) return true;  // appended, it would be longer
    if (Clock::now() >= end) return false;
    pause *= 2;
  }
}

// The smallest commit that every database can take: `user_version`, whoever it belongs to, is
// written with its own value. Other programs see that something was committed, and no difference.
bool WalKeeper::commit_nothing() {
  if (!run(guard(), "BEGIN IMMEDIATE")) return false;
  if (const auto version = pragma(guard(), "PRAGMA main.user_version")) {
    const std::string write = "PRAGMA main.user_version = " + std::to_string(*version);
    if (run(guard(), write.c_str()) && run(guard(), "COMMIT")) return true;
  }
  run(guard(), "ROLLBACK");
  return false;
}

// True when the file ends with the frames of the last commit.
bool WalKeeper::file_is_cut() const {
  return size_of(beside(database_, "-wal")) <= wal_bytes(writer_, frames_);
}

void WalKeeper::warn_when_large() {
  const std::int64_t bytes = wal_bytes(writer_, frames_);
  if (bytes <= warn_above_) return;
  while (warn_above_ < bytes) warn_above_ *= 2;
  const std::string readers = who_reads(database_);
  if (warn_) {
    warn_("the write-ahead log of " + database_.string() + " has grown to " +
          std::to_string(bytes >> 20) +
          " MiB; it shrinks when the programs that read the database "
          "end their transactions" +
          (readers.empty() ? "" : ": " + readers));
  }
}

// Once per keeper: the next attempts fail the same way, and the data is safe in the WAL.
void WalKeeper::report(const std::string& message) noexcept try {
  if (failure_told_ || !warn_) return;
  failure_told_ = true;
  warn_("cannot move the write-ahead log into " + database_.string() + " (" + message +
        "); nothing is lost, but the log grows until this succeeds");
} catch (...) {
}

}  // namespace threadstore::db
