#include "tests/crash/fault_sweep.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/crash/store_content.h"
#include "threadstore/error.h"

namespace threadstore::test {
namespace fs = std::filesystem;
namespace {

bool is_lock_file(const std::string& name) {
  return name.ends_with(".lock") || name.ends_with(".gate") || name.ends_with(".leases") ||
         name.ends_with(".removal");
}

std::map<std::string, int> rows_of(const std::vector<std::string>& content) {
  std::map<std::string, int> rows;
  for (const std::string& row : content) ++rows[row.substr(0, row.find('|'))];
  return rows;
}

/// The files below the directory that this process holds open, with how often; without lock files,
/// which it keeps for good.
std::set<std::string> descriptors_in(const fs::path& directory) {
  std::map<std::string, int> counts;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const fs::path target = fs::read_symlink(entry.path(), gone);
    if (gone || !target.string().starts_with(directory.string())) continue;
    if (!is_lock_file(target.filename())) ++counts[target.filename()];
  }
  std::set<std::string> open;
  for (const auto& [name, count] : counts) open.insert(name + " × " + std::to_string(count));
  return open;
}

bool flock_is_free(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return true;
  const bool free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return free;
}

bool write_lock_is_free(const fs::path& database) {
  sqlite3* other = nullptr;
  const bool free =
      sqlite3_open_v2(database.c_str(), &other, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK &&
      sqlite3_exec(other, "BEGIN IMMEDIATE; ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(other);
  return free;
}

}  // namespace

FaultSweep::FaultSweep() : injector_(directory_.path()), watch_(injector_) {
  make_sample_store(home(), options());
  before_ = content_of(database());
  for (const auto& entry : fs::directory_iterator(home())) {
    const std::string name = entry.path().filename();
    if (!is_lock_file(name)) sample_[name] = read_file(entry.path());
  }
}

OpenOptions FaultSweep::options() const {
  return {.deadline = std::chrono::milliseconds(50), .clock = clock_.clock()};
}

void FaultSweep::put_sample(const FaultSubject& subject) {
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(home())) {
    if (!is_lock_file(entry.path().filename())) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove_all(path);
  if (subject.new_store) return;
  for (const auto& [name, content] : sample_) {
    write_file(home() / name, content);
    fs::permissions(home() / name, fs::perms::owner_read | fs::perms::owner_write);
  }
}

FaultSweep::Answer FaultSweep::call(const FaultSubject& subject, std::optional<StateStore>& store) {
  Answer answer;
  try {
    subject.call(store, home(), options());
  } catch (const Error& error) {
    answer = {.refused = true,
              .committed = error.committed(),
              .code = error.code(),
              .what = error.what()};
  } catch (const std::exception& error) {
    answer = {.refused = true, .committed = false, .code = {}, .what = error.what()};
    say(std::string("threw what is no Error: ") + error.what());
  }
  return answer;
}

const FaultSweep::Faultless& FaultSweep::faultless(const FaultSubject& subject) {
  const auto known = faultless_.find(subject.name);
  if (known != faultless_.end()) return known->second;
  put_sample(subject);
  Faultless made;
  {
    std::optional<StateStore> store;
    if (!subject.opens) store.emplace(StateStore::open(database(), options()));
    subject.call(store, home(), options());
    made.rows = rows_of(content_of(database()));
    for (const auto& entry : fs::directory_iterator(home())) {
      made.files.insert(entry.path().filename());
    }
  }
  made.descriptors = descriptors_in(home());
  return faultless_[subject.name] = made;
}

bool FaultSweep::meet(const FaultSubject& subject, const std::string& fault,
                      const std::function<void()>& arm,
                      const std::function<std::size_t()>& disarm) {
  about_ = subject.name + ", " + fault;
  const Faultless& wanted = faultless(subject);
  put_sample(subject);
  bool met = false;
  {
    std::optional<StateStore> store;
    if (!subject.opens) store.emplace(StateStore::open(database(), options()));
    arm();
    const Answer answer = call(subject, store);
    met = disarm() > 0;
    if (met) judge(subject, answer, store);
  }
  if (met && descriptors_in(home()) != wanted.descriptors) {
    std::string left;
    for (const std::string& name : descriptors_in(home())) left += " " + name;
    say("left open:" + left);
  }
  return met;
}

void FaultSweep::judge(const FaultSubject& subject, const Answer& answer,
                       std::optional<StateStore>& store) {
  using enum ErrorCode;
  if (answer.code && *answer.code != io && *answer.code != unknown_outcome &&
      *answer.code != busy) {
    say("was refused as " + std::string(to_string(*answer.code)) + ": " + answer.what);
  }
  if (!flock_is_free(home() / "state.db.gate")) say("the gate stayed locked");
  if (!flock_is_free(home() / "session_index.jsonl.lock")) say("the index stayed locked");
  if (fs::exists(database()) && !write_lock_is_free(database())) say("the store stayed locked");
  for (const auto& entry : fs::directory_iterator(home())) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".tmp") && !may_leave_files_) say("left " + name + " behind");
  }
  if (subject.opens) {
    use(subject, store);
    return;
  }
  const auto& wanted = faultless(subject).rows;
  const Content found = content_of(database());
  const bool may_differ = answer.committed || answer.code == unknown_outcome;
  if (answer.refused && !may_differ && found != before_) {
    say("was refused (" + answer.what +
        "), and yet the store changed:" + difference(before_, found));
  }
  if (!answer.refused && rows_of(found) != wanted) {
    say("succeeded, and the store does not have all of it:" + difference(before_, found));
  }
  use(subject, store);
  store.reset();
  judge_after_next_open(answer, wanted);
}

void FaultSweep::judge_after_next_open(const Answer& answer,
                                       const std::map<std::string, int>& wanted) {
  try {
    const auto store = StateStore::open(database(), options());
  } catch (const std::exception& error) {
    say(std::string("cannot be opened again: ") + error.what());
    return;
  }
  const Content found = content_of(database());
  auto rows = rows_of(found);
  --rows["messages"];  // the one that `use` added
  const bool none_of_it = rows == rows_of(before_) && !answer.committed;
  if (!none_of_it && rows != wanted) {
    say("is half there after the next open (" + answer.what + "):" + difference(before_, found));
  }
}

void FaultSweep::use(const FaultSubject& subject, std::optional<StateStore>& store) {
  const auto write = [&] {
    if (subject.new_store && !store->threads().find(ThreadId("one"))) {
      store->threads().create({.id = ThreadId("one"), .cwd = "/"});
    }
    store->messages().append(ThreadId("one"), {.role = "user", .content = "use after a fault"});
  };
  std::string failure;
  if (store) {
    try {
      write();
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  if (!store || !failure.empty()) {
    try {
      store.reset();
      store.emplace(StateStore::open(database(), options()));
      write();
    } catch (const std::exception& error) {
      say(std::string("the store cannot be used: ") + error.what());
      return;
    }
  }
  if (!failure.empty()) say("the handle cannot be used: " + failure);
  if (const std::string complaints = complaints_about(*store); !complaints.empty()) {
    say("the store is not sound:" + complaints);
  }
}

std::size_t FaultSweep::each_fault(Positions positions,
                                   const std::function<bool(std::size_t, bool)>& met) {
  std::size_t count = 0;
  for (const bool for_ever : {false, true}) {
    std::size_t nth = positions.first;
    for (std::size_t i = 0; i < positions.most && met(nth, for_ever); ++i) {
      nth += positions.step;
      ++count;
    }
  }
  return count;
}

std::size_t FaultSweep::sweep(const FaultSubject& subject, DiskVerb verb, int error,
                              Positions positions) {
  return each_fault(positions, [&](std::size_t nth, bool for_ever) {
    const Fault fault{.verb = verb, .nth = nth, .for_ever = for_ever, .error = error};
    may_leave_files_ = verb == DiskVerb::unlink && for_ever;
    const auto disarm = [&] {
      injector_.disarm();
      return injector_.refused();
    };
    return meet(
        subject, describe(fault), [&] { injector_.arm(fault); }, disarm);
  });
}

std::size_t FaultSweep::sweep_memory(const FaultSubject& subject, Positions positions) {
  return each_fault(positions, [&](std::size_t nth, bool for_ever) {
    const std::string fault =
        "allocation " + std::to_string(nth) + (for_ever ? " and all after it" : "");
    return meet(
        subject, fault, [&] { fail_allocation(nth, for_ever); }, stop_failing_allocations);
  });
}

}  // namespace threadstore::test
