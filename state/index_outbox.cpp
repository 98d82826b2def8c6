#include "state/index_outbox.h"

#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

constexpr std::int64_t batch = 1000;  // rows of one snapshot, lines of one write
constexpr std::size_t most_unsynced_lines = 64;

struct Waiting {
  std::int64_t last_seq = 0;
  bool more = false;
  std::vector<IndexEntry> entries;  ///< one for each thread
};

Waiting read_waiting(StoreContext& context, std::int64_t after) {
  static const std::string sql = std::string(R"sql(
    SELECT index_outbox.seq, index_outbox.thread_id, threads.id, title, updated_at, rollout_path,
           revives
    FROM index_outbox LEFT JOIN threads ON threads.id = index_outbox.thread_id AND)sql") +
                                 thread_is_visible + R"sql(
    WHERE index_outbox.seq > ? ORDER BY index_outbox.seq LIMIT ?)sql";
  Waiting waiting;
  std::map<ThreadId, IndexEntry> by_thread;  // one snapshot: rows of one thread say the same
  std::int64_t rows = 0;
  context.database->read([&](db::Session& session) {
    session.each(sql, {after, batch}, [&](const db::Row& row) {
      const auto id = row.get<ThreadId>(1);
      const bool gone = row.is_null(2);
      const bool revived = !gone && (row.integer(6) != 0 || by_thread[id].revived);
      by_thread[id] = {.thread_id = id,
                       .thread_name = row.get<std::optional<std::string>>(3),
                       .updated_at = gone ? context.now_seconds() : row.integer(4),
                       .rollout_path = row.get<std::optional<std::string>>(5),
                       .deleted = gone,
                       .revived = revived};
      waiting.last_seq = row.integer(0);
      ++rows;
    });
  });
  for (auto& [id, entry] : by_thread) waiting.entries.push_back(std::move(entry));
  waiting.more = rows == batch;
  return waiting;
}

bool is_waiting(StoreContext& context, std::int64_t after) {
  return context.database->read([&](db::Session& session) {
    return session.exists("SELECT 1 FROM index_outbox WHERE seq > ?", {after});
  });
}

void raise(std::atomic<std::int64_t>& value, std::int64_t to) {
  std::int64_t current = value;
  while (current < to && !value.compare_exchange_weak(current, to)) {
  }
}

}  // namespace

IndexOutbox::~IndexOutbox() {
  if (appended_up_to_ == 0) return;
  try {
    sync(std::chrono::milliseconds(0));
    context_.database->write([&](db::Session& session) {
      session.run("DELETE FROM index_outbox WHERE seq <= ?", {synced_up_to_.load()});
    });
  } catch (const std::exception& error) {
    // The next one that opens the store writes those lines once more.
    base::log_debug(std::string("cannot tidy the index outbox: ") + error.what());
  }
}

void IndexOutbox::at_write(db::Session& session) {
  const std::int64_t newest =
      session.value<std::int64_t>("SELECT max(seq) FROM index_outbox").value_or(0);
  if (newest == 0) return;
  const std::int64_t synced = synced_up_to_;
  if (synced > 0) session.run("DELETE FROM index_outbox WHERE seq <= ?", {synced});
  if (newest > appended_up_to_) {
    context_.database->after_commit([this] { drain(std::nullopt); });
  }
}

bool IndexOutbox::drain(std::optional<base::Deadline> deadline) noexcept {
  try {
    while (drain_batch(deadline ? deadline->remaining() : std::chrono::milliseconds(0))) {
    }
    return true;
  } catch (const std::exception& error) {
    const std::string line =
        std::string("the session index is behind; the next write brings it up to date: ") +
        error.what();
    deadline ? base::log_warn(line) : base::log_debug(line);
    return false;
  }
}

bool IndexOutbox::drain_batch(std::chrono::milliseconds deadline) {
  if (!is_waiting(context_, appended_up_to_)) return false;
  Waiting appended;
  context_.index->append_latest(
      [&] {
        appended = read_waiting(context_, appended_up_to_);
        return appended.entries;
      },
      deadline);
  raise(appended_up_to_, appended.last_seq);
  unsynced_lines_ += appended.entries.size();
  if (unsynced_lines_ >= most_unsynced_lines) sync(deadline);
  return appended.more;
}

void IndexOutbox::sync(std::chrono::milliseconds deadline) {
  const std::int64_t appended = appended_up_to_;
  if (appended == synced_up_to_) return;
  try {
    context_.index->sync(deadline);
    unsynced_lines_ = 0;
    raise(synced_up_to_, appended);
  } catch (const Error& error) {
    // What the disk refused once it may forget silently: those lines are written again.
    if (error.code() != ErrorCode::busy) appended_up_to_ = synced_up_to_.load();
    throw;
  }
}

std::int64_t index_backlog(StoreContext& context) {
  const std::int64_t appended = context.feed ? context.feed->appended_up_to() : 0;
  return context.read([&](db::Session& session) {
    return session
        .value<std::int64_t>("SELECT count(*) FROM index_outbox WHERE seq > ?", {appended})
        .value_or(0);
  });
}

}  // namespace threadstore::state
