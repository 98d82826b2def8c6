#include "tests/crash/crash_run.h"

#include <sys/random.h>

#include <algorithm>

#include "tests/crash/store_content.h"
#include "threadstore/error.h"

namespace {

std::mt19937_64& ids() {
  static std::mt19937_64 generator;
  return generator;
}

}  // namespace

// New ids, in the place of the C library's: the same script fills the same pages in every process.
extern "C" ssize_t getrandom(void* buffer, std::size_t length, unsigned) {
  auto* const bytes = static_cast<unsigned char*>(buffer);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<unsigned char>(ids()());
  return static_cast<ssize_t>(length);
}

namespace threadstore::test {

CrashRun::CrashRun(const Options& options) {
  ids().seed(options.seed);
  recorder_ = std::make_unique<DiskRecorder>(live_.path());
  recorder_->leave_out = options.leave_out;
  const WatchDisk watch(*recorder_);
  ScriptWorld world(live_ / "state.db", options.seed);
  // Ids only grow: a later script of the process must not go on from those of an earlier one.
  world.clock.advance_seconds(static_cast<std::int64_t>(options.seed) * 100'000);
  for (const ScriptStep& step : random_script(options.seed, options.length)) {
    const std::size_t begin = recorder_->position();
    world.clock.advance_seconds(1);
    step.run(world);
    done_.push_back({.name = step.name,
                     .begin = begin,
                     .end = recorder_->position(),
                     .content = content_of(world.database())});
  }
  world.close();
  clock_.set_seconds(world.clock.seconds() + 1);
  disk_.emplace(*recorder_);
}

std::optional<std::string> CrashRun::crash(const CrashPoint& point) {
  std::mt19937_64 random(point.choice);
  disk_->advance(point.position);
  disk_->crash(point.style, random, crashed_.path());
  const bool twice = random() % 8 == 0;
  std::string complaints;
  try {
    if (twice) open_and_crash_again(random, point.style);
    complaints = open_and_look(twice ? crashed_twice_.path() : crashed_.path(), point);
  } catch (const std::exception& error) {
    complaints = std::string("\n  cannot be used: ") + error.what();
  }
  if (complaints.empty()) return std::nullopt;
  return complaints;
}

void CrashRun::open_and_crash_again(std::mt19937_64& random, CrashStyle style) {
  DiskRecorder recorder(crashed_.path());
  {
    const WatchDisk watch(recorder);
    StateStore::open(crashed_ / "state.db", {.clock = clock_.clock()});
  }
  CrashDisk disk(recorder);
  disk.advance(recorder.changes().empty() ? 0 : random() % recorder.changes().size());
  disk.crash(style, random, crashed_twice_.path());
}

std::string CrashRun::open_and_look(const std::filesystem::path& home, const CrashPoint& point) {
  const auto acknowledged =
      static_cast<std::size_t>(std::count_if(done_.begin(), done_.end(), [&](const DoneStep& step) {
        return step.end <= point.position;
      }));
  const StateStore store = StateStore::open(home / "state.db", {.clock = clock_.clock()});
  std::string complaints = complaints_about(store);

  const auto found = content_of(home / "state.db");
  const std::size_t last = std::min(acknowledged, done_.size() - 1);
  const std::size_t first = acknowledged == 0 ? 0 : acknowledged - 1;
  bool known = false;
  for (std::size_t step = first; step <= last; ++step) known |= found == done_[step].content;
  if (!known) {
    complaints += "\n  after step " + std::to_string(first) + " (" + done_[first].name +
                  ") was acknowledged:" + difference(done_[first].content, found);
    if (last != first) {
      complaints += "\n  or after step " + std::to_string(last) + " (" + done_[last].name +
                    "):" + difference(done_[last].content, found);
    }
  }
  // What bears a backup's name is one.
  for (const auto& entry : std::filesystem::directory_iterator(home)) {
    if (!entry.path().filename().string().starts_with("copy")) continue;
    if (entry.path().extension() != ".db") continue;
    const auto copied = content_of(entry.path());
    if (std::none_of(done_.begin(), done_.end(),
                     [&](const DoneStep& step) { return step.content == copied; })) {
      complaints += "\n  " + entry.path().filename().string() + " is no state of the store";
    }
  }
  // It goes on: the next line is not lost behind a torn one, and what is derived is made anew.
  store.threads().create({.name = "after the crash", .cwd = "/"});
  if (!store.verify_index().ok()) complaints += "\n  the index lost the thread after the crash";
  store.search().find({.text = "message"});
  return complaints;
}

}  // namespace threadstore::test
