// The session index by itself on the model of a disk: no database that would bring a lost line
// back. Every acknowledged entry survives, one under way is as it was or as it becomes, and the
// next append is not swallowed by what a crash tore.
//
//   THREADSTORE_CRASH_SEEDS, THREADSTORE_CRASH_SEED   as in crash_test.cpp (twice as many scripts)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "tests/crash/crash_sweep.h"
#include "tests/support/opened_store.h"
#include "tests/support/temp_dir.h"
#include "threadstore/session_index.h"

namespace threadstore::test {
namespace {

using testing::IsEmpty;
using testing::Not;

/// What a look-up says of each thread.
using Names = std::map<ThreadId, std::optional<std::string>>;

class IndexCrashRun {
 public:
  explicit IndexCrashRun(std::uint64_t seed, std::function<bool(const DiskCall&)> leave_out = {})
      : random_(seed), recorder_(live_.path()) {
    recorder_.leave_out = std::move(leave_out);
    const WatchDisk watch(recorder_);
    SessionIndex index(live_ / "session_index.jsonl", options());
    for (int step = 0; step < 60; ++step) {
      const std::size_t begin = recorder_.position();
      written_.clear();
      run_step(index);
      done_.push_back({begin, recorder_.position(), names_in(index), written_});
    }
    disk_.emplace(recorder_);
  }

  std::size_t changes() const { return recorder_.changes().size(); }

  std::optional<std::string> crash(const CrashPoint& point) {
    std::mt19937_64 random(point.choice);
    disk_->advance(point.position);
    disk_->crash(point.style, random, crashed_.path());
    SessionIndex index(crashed_ / "session_index.jsonl", options());
    std::string complaints = look(names_in(index), point);
    // Entries that were long enough to be torn are followed by a short one.
    index.append({.thread_id = ThreadId("later"), .thread_name = "later", .updated_at = 1});
    Names after = names_in(index);
    if (after[ThreadId("later")] != "later") complaints += "\n  the next append is lost";
    after.erase(ThreadId("later"));
    // What was torn may have become whole by the newline that ends it, and nothing else changed.
    complaints += look(after, point);
    if (complaints.empty()) return std::nullopt;
    return complaints;
  }

 private:
  struct DoneStep {
    std::size_t begin = 0;
    std::size_t end = 0;
    Names names{};                                            ///< after it
    std::vector<std::pair<ThreadId, std::string>> written{};  ///< by it, line by line
  };

  SessionIndexOptions options() const { return {.clock = clock_.clock()}; }

  static Names names_in(const SessionIndex& index) {
    Names names;
    for (const IndexEntry& entry : index.entries()) names[entry.thread_id] = entry.thread_name;
    return names;
  }

  IndexEntry entry() {
    const ThreadId id("thread-" + std::to_string(random_() % 8));
    written_.emplace_back(id,
                          "name " + std::to_string(++count_) + std::string(random_() % 900, 'n'));
    return {.thread_id = id, .thread_name = written_.back().second, .updated_at = clock_.seconds()};
  }

  void run_step(SessionIndex& index) {
    clock_.advance_seconds(1);
    switch (random_() % 8) {
      case 0:
        index.compact();
        break;
      case 1:
        index.append_tombstone(entry().thread_id, clock_.seconds());
        break;
      case 2:
        index.rebuild([&] { return index.entries(); });
        break;
      case 3:
        index.append(std::vector{entry(), entry(), entry()});
        break;
      default:
        index.append(entry());
        break;
    }
  }

  /// Each thread as after the last acknowledged step, or as a line of the one under way says.
  std::string look(const Names& found, const CrashPoint& point) const {
    std::size_t acknowledged = 0;
    while (acknowledged < done_.size() && done_[acknowledged].end <= point.position) ++acknowledged;
    const Names before = acknowledged == 0 ? Names{} : done_[acknowledged - 1].names;
    const DoneStep under_way =
        acknowledged < done_.size() ? done_[acknowledged] : DoneStep{.names = before};
    std::string complaints;
    for (int i = 0; i < 8; ++i) {
      const ThreadId id("thread-" + std::to_string(i));
      const auto said = [&](const Names& names) {
        const auto at = names.find(id);
        return at == names.end() ? "absent" : at->second.value_or("unnamed");
      };
      std::vector<std::string> allowed{said(before), said(under_way.names)};
      for (const auto& [thread, name] : under_way.written) {
        if (thread == id) allowed.push_back(name);
      }
      const std::string now = said(found);
      if (std::find(allowed.begin(), allowed.end(), now) != allowed.end()) continue;
      complaints += "\n  " + id.str() + " is " + now.substr(0, 12) + " and was " +
                    allowed.front().substr(0, 12);
    }
    return complaints;
  }

  const TempDir live_;
  const TempDir crashed_;
  ManualClock clock_;
  std::mt19937_64 random_;
  int count_ = 0;
  std::vector<std::pair<ThreadId, std::string>> written_;  ///< by the step under way
  DiskRecorder recorder_;
  std::vector<DoneStep> done_;
  std::optional<CrashDisk> disk_;
};

/// Each position with several choices: a script of the index is short.
std::vector<std::string> sweep_index(std::uint64_t seed, std::uint64_t times,
                                     const std::function<bool(const DiskCall&)>& leave_out = {}) {
  for (std::uint64_t time = 0; time < times; ++time) {
    IndexCrashRun run(seed, leave_out);
    auto complaints = sweep(run, {.seed = seed + (time << 32), .states = 1'000'000});
    if (!complaints.empty()) return complaints;
  }
  return {};
}

TEST(IndexCrashTest, EveryAcknowledgedEntrySurvivesAPowerCutAtAnyMoment) {
  const std::uint64_t first = number_setting("THREADSTORE_CRASH_SEED", 1);
  const std::uint64_t scripts = 2 * number_setting("THREADSTORE_CRASH_SEEDS", 2);
  for (std::uint64_t seed = first; seed < first + scripts && !HasFailure(); ++seed) {
    for (const std::string& complaint : sweep_index(seed, 5)) ADD_FAILURE() << complaint;
  }
}

TEST(IndexCrashTest, NoticesThatAnAppendIsNotSynced) {
  EXPECT_THAT(sweep_index(1, 5,
                          [](const DiskCall& call) {
                            return call.verb == DiskVerb::sync &&
                                   call.path.filename() == "session_index.jsonl";
                          }),
              Not(IsEmpty()));
}

TEST(IndexCrashTest, NoticesThatACompactedFileIsNotSyncedBeforeItsRename) {
  EXPECT_THAT(sweep_index(1, 5,
                          [](const DiskCall& call) {
                            return call.verb == DiskVerb::sync &&
                                   call.path.filename() == "session_index.jsonl.compact";
                          }),
              Not(IsEmpty()));
}

TEST(IndexCrashTest, NoticesThatTheDirectoryIsNotSynced) {
  EXPECT_THAT(
      sweep_index(1, 5, [](const DiskCall& call) { return call.verb == DiskVerb::sync_directory; }),
      Not(IsEmpty()));
}

}  // namespace
}  // namespace threadstore::test
