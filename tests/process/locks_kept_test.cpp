// No public call drops the locks that SQLite holds on the database: a closed descriptor of the
// file, anywhere in the process, would do so silently, and the next commit could be lost.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

class LocksKeptTest : public StoreFixture {
 protected:
  /// Our process's locks on the database, its -wal and its -shm, as the kernel lists them.
  std::vector<std::string> locks() const {
    std::vector<std::string> held;
    std::ifstream table("/proc/locks");
    for (std::string line; std::getline(table, line);) {
      // "7: POSIX  ADVISORY  READ 4242 fe:01:1234567 1073741826 1073742335"
      std::istringstream words(line);
      std::string number, family, mode, kind, pid, file, from, to;
      words >> number >> family >> mode >> kind >> pid >> file >> from >> to;
      if (pid != std::to_string(::getpid())) continue;
      for (const char* suffix : {"", "-wal", "-shm"}) {
        struct stat status {};
        if (::stat((database().string() + suffix).c_str(), &status) != 0) continue;
        if (file.substr(file.rfind(':') + 1) != std::to_string(status.st_ino)) continue;
        held.push_back("state.db" + std::string(suffix) + " " + family + " " + kind + " " + from +
                       "-" + to);
      }
    }
    // The table is read in pieces while other processes change it: a line may come twice.
    std::sort(held.begin(), held.end());
    held.erase(std::unique(held.begin(), held.end()), held.end());
    return held;
  }

  template <class Call>
  void expect_locks_kept(const std::string& name, Call&& call) {
    const auto before = locks();
    call();
    EXPECT_EQ(locks(), before) << "after " << name;
    EXPECT_FALSE(before.empty()) << "before " << name;
  }
};

TEST_F(LocksKeptTest, AClosedDescriptorOfTheFileIsSeenByThisTest) {
  const auto store = open();
  make_thread(store);
  const auto before = locks();
  std::ifstream(database()).get();
  EXPECT_NE(locks(), before);
}

TEST_F(LocksKeptTest, ThreadsKeepTheLocks) {
  const auto store = open();
  auto threads = store.threads();
  const ThreadId id = make_thread(store, "name");
  const Thread thread = threads.get(id);
  expect_locks_kept("create", [&] { threads.create({.cwd = "/"}); });
  expect_locks_kept("upsert", [&] { threads.upsert(thread); });
  expect_locks_kept("update", [&] { threads.update(id, {.path = "p"}); });
  expect_locks_kept("rename", [&] { threads.rename(id, "other"); });
  expect_locks_kept("touch", [&] { threads.touch(id, "preview"); });
  expect_locks_kept("set_status", [&] { threads.set_status(id, ThreadStatus::running); });
  expect_locks_kept("set_memory_mode", [&] { threads.set_memory_mode(id, "on"); });
  expect_locks_kept("memory_mode", [&] { threads.memory_mode(id); });
  expect_locks_kept("find", [&] { threads.find(id); });
  expect_locks_kept("list", [&] { threads.list(); });
  expect_locks_kept("count", [&] { threads.count(); });
  expect_locks_kept("find_by_name", [&] { threads.find_by_name("other"); });
  expect_locks_kept("find_by_id_part", [&] { threads.find_by_id_part("abcd"); });
  expect_locks_kept("find_rollout_path", [&] { threads.find_rollout_path(id); });
  expect_locks_kept("archive", [&] { threads.archive(id); });
  expect_locks_kept("unarchive", [&] { threads.unarchive(id); });
  expect_locks_kept("fork", [&] { threads.fork({.source = id}); });
  expect_locks_kept("remove", [&] { threads.remove(id); });
}

TEST_F(LocksKeptTest, MessagesKeepTheLocks) {
  const auto store = open();
  auto messages = store.messages();
  const ThreadId thread = make_thread(store);
  const NewMessage hello{.role = "user", .content = "hello"};
  const MessageId id = messages.append(thread, hello).id;
  expect_locks_kept("append", [&] { messages.append(thread, hello); });
  expect_locks_kept("append_many", [&] { messages.append_many(thread, {hello, hello}); });
  expect_locks_kept("branch_at", [&] { messages.branch_at(thread, id, hello); });
  expect_locks_kept("set_current_leaf", [&] { messages.set_current_leaf(thread, id); });
  expect_locks_kept("find", [&] { messages.find(thread, id); });
  expect_locks_kept("list", [&] { messages.list(thread); });
  expect_locks_kept("walk", [&] { messages.walk(thread, {}, [](auto&) { return true; }); });
  expect_locks_kept("leaves", [&] { messages.leaves(thread); });
  expect_locks_kept("children", [&] { messages.children(thread, id); });
  expect_locks_kept("path_from_root", [&] { messages.path_from_root(thread, id); });
  expect_locks_kept("depth", [&] { messages.depth(thread, id); });
  expect_locks_kept("tree", [&] { messages.tree(thread); });
  expect_locks_kept("since", [&] { messages.since({}, MessageId{0}); });
  expect_locks_kept("newest_id", [&] { messages.newest_id(); });
  expect_locks_kept("clear", [&] { messages.clear(thread); });
}

TEST_F(LocksKeptTest, TheStoreItsLeasesAndItsIndexKeepTheLocks) {
  const auto store = open();
  const ThreadId thread = make_thread(store, "name");
  expect_locks_kept("a second open", [&] { open(); });
  expect_locks_kept("a read-only open", [&] { open({.mode = OpenMode::read_only}); });
  expect_locks_kept("transaction",
                    [&] { store.transaction([&] { store.threads().rename(thread, "other"); }); });
  expect_locks_kept("a failed transaction", [&] {
    EXPECT_THROW(store.transaction([] { throw std::runtime_error("no"); }), std::runtime_error);
  });
  expect_locks_kept("wait_for_change", [&] {
    store.wait_for_change(store.change_mark(), std::chrono::milliseconds(10));
  });
  expect_locks_kept("verify_index", [&] { store.verify_index(); });
  expect_locks_kept("rebuild_index", [&] { store.rebuild_index(); });
  expect_locks_kept("compact", [&] { store.index()->compact(); });
  expect_locks_kept("index look-ups", [&] { store.index()->find_by_name("other"); });
  expect_locks_kept("lease", [&] {
    auto lease = store.leases().acquire(LeaseKind::thread, thread.str(), "test");
    store.leases().find(LeaseKind::thread, thread.str());
    lease.release();
  });
}

TEST_F(LocksKeptTest, ManyMessagesWithCheckpointsKeepTheLocks) {
  const auto store = open();
  const ThreadId thread = make_thread(store);
  const std::vector<NewMessage> batch(200, {.role = "user", .content = std::string(4096, 'x')});
  for (int i = 0; i < 12; ++i) {  // some 10 MiB: past the first guarded checkpoint
    expect_locks_kept("append_many", [&] { store.messages().append_many(thread, batch); });
  }
}

}  // namespace
}  // namespace threadstore::test
