#include "threadstore/state_store.h"

#include <thread>

#include "base/deadline.h"
#include "base/log.h"
#include "state/doctor.h"
#include "state/index_compare.h"
#include "state/index_outbox.h"
#include "state/leases/lease_file.h"
#include "state/maintenance/backup.h"
#include "state/maintenance/repair.h"
#include "state/old_schema_copy.h"
#include "state/runs/run_removal.h"
#include "state/schema/schema.h"
#include "state/search/forget_deleted.h"
#include "state/threads/index_queue.h"
#include "state/threads/removal.h"
#include "threadstore/paths.h"

namespace threadstore {

using state::StoreContext;

namespace {

constexpr std::chrono::milliseconds poll_interval{5};

/// A file that is newer than we are, or another program's, is refused before a byte changes.
db::Options database_options(const OpenOptions& options, db::Mode mode, const std::string& file) {
  return {.mode = mode,
          .deadline = options.deadline,
          .notice = options.notice,
          .inspect = [file](db::Session& session) {
            db::is_current(session, state::state_schema(), file);
          }};
}

/// SQLite's own bound on a row is 1,000,000,000 bytes, and a step's holds four contents.
constexpr std::size_t largest_run_content = std::size_t{128} << 20U;

void check_options(const OpenOptions& options) {
  const std::size_t limit = options.run_content_limit;
  if (limit >= 1 && limit <= largest_run_content) return;
  throw Error(ErrorCode::invalid_argument, "OpenOptions::run_content_limit is 1 to " +
                                               std::to_string(largest_run_content) +
                                               " bytes, not " + std::to_string(limit));
}

std::shared_ptr<StoreContext> new_context(const OpenOptions& options) {
  check_options(options);
  auto context = std::make_shared<StoreContext>();
  context->clock = options.clock;
  context->deadline = options.deadline;
  context->run_content_limit = options.run_content_limit;
  context->runs = std::make_unique<state::RunsOfThreads>();
  context->notice = [notice = options.notice](const std::string& text) {
    base::log_info(text);
    if (notice) notice(text);
  };
  return context;
}

/// Also finishes what processes that died have begun. Nothing of it keeps the store from opening.
void begin_writing(const std::shared_ptr<StoreContext>& shared) {
  StoreContext& context = *shared;
  context.feed = std::make_unique<state::IndexOutbox>(context);
  context.forget_in_search = [weak = std::weak_ptr(shared)] {
    const auto held = weak.lock();
    return held && state::forget_deleted_in_search(*held);
  };
  if (state::index_backlog(context) > 0) context.feed->drain(std::nullopt);
  state::continue_removals(context);
}

}  // namespace

StateStore::StateStore(std::shared_ptr<StoreContext> context) : context_(std::move(context)) {}

StateStore StateStore::open(const std::filesystem::path& database, const OpenOptions& options) {
  if (options.mode == OpenMode::memory) return in_memory(options);
  const bool writing = options.mode == OpenMode::read_write;
  auto context = new_context(options);
  context->database = db::Database::open(
      database, database_options(options, writing ? db::Mode::read_write : db::Mode::read_only,
                                 database.string()));
  context->file = context->database->file();
  if (writing) {
    db::migrate(*context->database, state::state_schema(), context->notice);
  } else {
    state::read_from_private_copy_when_old(*context);
  }
  context->leases = std::make_shared<state::LeaseFile>(context->file.string() + ".leases");
  context->index = std::make_unique<SessionIndex>(
      context->file.parent_path() / "session_index.jsonl",
      SessionIndexOptions{.deadline = options.deadline, .clock = options.clock});
  if (writing) begin_writing(context);
  return StateStore(std::move(context));
}

StateStore StateStore::open() { return open(Paths().database()); }

StateStore StateStore::in_memory(OpenOptions options) {
  auto context = new_context(options);
  context->database =
      db::Database::open(":memory:", database_options(options, db::Mode::memory, ":memory:"));
  context->file = ":memory:";
  db::migrate(*context->database, state::state_schema(), context->notice);
  context->leases = state::LeaseFile::anonymous();
  return StateStore(std::move(context));
}

Threads StateStore::threads() const { return Threads(context_); }
Messages StateStore::messages() const { return Messages(context_); }
Checkpoints StateStore::checkpoints() const { return Checkpoints(context_); }
Tools StateStore::tools() const { return Tools(context_); }
Goals StateStore::goals() const { return Goals(context_); }
Jobs StateStore::jobs() const { return Jobs(context_); }
Workflows StateStore::workflows() const { return Workflows(context_); }
Leases StateStore::leases() const { return Leases(context_); }
Search StateStore::search() const { return Search(context_); }
Runs StateStore::runs(const std::string& workspace) const { return Runs(context_, workspace); }
SessionIndex* StateStore::index() const { return context_->index.get(); }
const std::filesystem::path& StateStore::path() const { return context_->file; }

bool StateStore::is_snapshot() const { return context_->private_copy != nullptr; }

void StateStore::transaction(const std::function<void()>& body) const {
  context_->write([&](db::Session&) { body(); });
}

std::int64_t StateStore::change_mark() const { return context_->database->change_counter(); }

bool StateStore::wait_for_change(std::int64_t seen, std::chrono::milliseconds timeout) const {
  const auto deadline = base::Deadline::after(timeout);
  while (change_mark() == seen) {
    if (deadline.expired()) return false;
    std::this_thread::sleep_for(std::min(poll_interval, deadline.remaining()));
  }
  return true;
}

IndexDifference StateStore::verify_index() const { return state::compare_index(*context_); }

IndexDifference StateStore::repair_index() const {
  const IndexDifference difference = verify_index();
  if (difference.ok()) return difference;
  const auto deadline = base::Deadline::after(context_->deadline);
  // A queued id becomes what the database says of it: its line, also after a tombstone, or a
  // tombstone.
  context_->write([&](db::Session& session) {
    for (const auto* ids : {&difference.missing, &difference.extra, &difference.different}) {
      for (const ThreadId& id : *ids) {
        state::queue_index_line(session, id, state::IndexLine::revival);
      }
    }
  });
  if (state::index_stays_behind(context_, deadline)) {
    throw Error(ErrorCode::busy, "cannot repair the session index " +
                                     context_->index->file().string() +
                                     " now; what is missing was noted and comes in with the next "
                                     "write. The log says what was in the way");
  }
  return difference;
}

IndexDifference StateStore::rebuild_index() const {
  IndexDifference difference = verify_index();
  if (context_->index) {
    context_->index->rebuild([this] { return state::index_entries(*context_); });
  }
  return difference;
}

std::int64_t StateStore::index_backlog() const { return state::index_backlog(*context_); }

std::vector<Check> StateStore::check() const { return state::check_store(*context_); }

StoreStats StateStore::stats() const { return state::store_stats(*context_); }

std::vector<Repair> StateStore::repair() const {
  auto repairs = state::repair_store(*context_);
  const IndexDifference mended = repair_index();
  const auto count = mended.missing.size() + mended.extra.size() + mended.different.size();
  if (count > 0) {
    repairs.push_back({"index", std::to_string(count) + (count == 1 ? " entry" : " entries") +
                                    " mended from the database"});
  }
  return repairs;
}

Backup StateStore::backup(const std::filesystem::path& file, const BackupOptions& options) const {
  return state::back_up(*context_, file, options);
}

}  // namespace threadstore
