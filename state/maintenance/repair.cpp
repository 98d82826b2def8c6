#include "state/maintenance/repair.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "base/files.h"
#include "state/doctor.h"
#include "state/maintenance/backup.h"
#include "state/maintenance/copy_file.h"
#include "state/threads/removal.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace fs = std::filesystem;
namespace {

/// Files only: the directory may hold other things than the store.
void close_file_modes(const StoreContext& context, std::vector<Repair>& repairs) {
  for (const fs::path& file : store_files(context)) {
    const std::string mode = open_mode(file);
    if (mode.empty() || !fs::is_regular_file(fs::symlink_status(file))) continue;
    if (::chmod(file.c_str(), 0600) == 0) {
      repairs.push_back({"file_modes", file.string() + " had mode " + mode + ", now 0600"});
    } else {
      repairs.push_back(
          {"file_modes", file.string() + " keeps mode " + mode + "; only its owner may change it"});
    }
  }
}

void remove_temporaries(const StoreContext& context, std::vector<Repair>& repairs) {
  for (const fs::path& file : left_over_temporaries(context)) {
    std::error_code failure;
    const bool removed = fs::remove(file, failure);
    repairs.push_back({"temporaries", file.string() + (removed ? " removed" : " stays: ") +
                                          (removed ? "" : failure.message())});
  }
}

void finish_removals(StoreContext& context, std::vector<Repair>& repairs) {
  const auto count = [&] {
    return context.read([](db::Session& session) { return unfinished_removals(session).size(); });
  };
  const std::size_t before = count();
  if (before == 0) return;
  continue_removals(context);
  const std::size_t after = count();
  repairs.push_back({"removals", std::to_string(before - after) + " finished, " +
                                     std::to_string(after) + " left to a living process"});
}

/// As `check_leaves` finds them.
constexpr const char* kLostLeaves = R"sql(
  SELECT threads.id, threads.current_leaf_id FROM threads
  LEFT JOIN messages ON messages.id = threads.current_leaf_id
  WHERE threads.current_leaf_id IS NOT NULL
    AND (messages.id IS NULL
         OR (messages.thread_id <> threads.id
             AND NOT EXISTS (SELECT 1 FROM thread_forks WHERE thread_id = threads.id)))
  ORDER BY threads.id)sql";

struct LostLeaf {
  ThreadId thread;
  MessageId old{};
};

std::vector<LostLeaf> lost_leaves(db::Session& session) {
  return session.all(kLostLeaves, {}, [](const db::Row& row) {
    return LostLeaf{row.get<ThreadId>(0), row.get<MessageId>(1)};
  });
}

/// The newest message of the thread under which none of its messages hangs; for a fork without any
/// of its own, where it began; else the thread is empty.
std::string mend_leaf(db::Session& session, const LostLeaf& lost) {
  const auto leaf =
      session
          .one(R"sql(
      UPDATE threads SET current_leaf_id = coalesce(
        (SELECT max(id) FROM messages
         WHERE thread_id = threads.id
           AND NOT EXISTS (SELECT 1 FROM messages AS child
                           WHERE child.parent_entry_id = messages.id
                             AND child.thread_id = threads.id)),
        (SELECT message_id FROM thread_forks
         WHERE thread_id = threads.id
           AND EXISTS (SELECT 1 FROM messages WHERE id = thread_forks.message_id)))
      WHERE id = ? RETURNING current_leaf_id)sql",
               {lost.thread},
               [](const db::Row& row) { return row.get<std::optional<MessageId>>(0); })
          .value_or(std::nullopt);
  return "the leaf of thread " + lost.thread.str() + " was " + std::to_string(to_int(lost.old)) +
         ", which is not there; it is now " +
         (leaf ? std::to_string(to_int(*leaf)) : std::string("none: the thread has no message"));
}

void mend_leaves(StoreContext& context, std::vector<Repair>& repairs) {
  if (context.read([](db::Session& session) { return lost_leaves(session).empty(); })) return;
  try {
    const fs::path kept = name_beside(context.file, "before-repair", context.now_millis());
    back_up(context, kept, {});
    repairs.push_back({"backup", "the store as it was is in " + kept.string()});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    repairs.push_back({"leaves", "not mended, since a damaged store is not written to: " +
                                     std::string(error.what())});
    return;
  }
  std::vector<std::string> mended;
  context.write([&](db::Session& session) {
    mended.clear();
    for (const LostLeaf& lost : lost_leaves(session)) mended.push_back(mend_leaf(session, lost));
  });
  for (const std::string& what : mended) repairs.push_back({"leaves", what});
}

}  // namespace

std::vector<Repair> repair_store(StoreContext& context) {
  std::vector<Repair> repairs;
  if (!context.index) return repairs;
  close_file_modes(context, repairs);
  remove_temporaries(context, repairs);
  finish_removals(context, repairs);
  mend_leaves(context, repairs);
  return repairs;
}

}  // namespace threadstore::state
