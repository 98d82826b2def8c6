// Conversations are private: every file and folder that appears is for its owner alone.
#include <sys/stat.h>

#include <set>

#include "tests/process/store_fixture.h"

namespace threadstore::test {
namespace {

/// Sets the umask of the process for a scope.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

class PrivateFilesTest : public StoreFixture, public ::testing::WithParamInterface<mode_t> {
 protected:
  /// Looks at all that is there at this moment, so call it while the store is open, too.
  void expect_private() {
    const auto top = folder_ / "home";
    expect_mode(top, S_IFDIR | 0700);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      expect_mode(entry.path(), entry.is_directory() ? S_IFDIR | 0700 : S_IFREG | 0600);
      seen_.insert(entry.path().filename().string());
    }
  }

  std::set<std::string> seen_;

 private:
  static void expect_mode(const std::filesystem::path& path, mode_t mode) {
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_mode, mode) << path;
  }
};

TEST_P(PrivateFilesTest, EveryFileIsItsOwnersAlone) {
  const Umask umask(GetParam());
  {
    const auto store = open();
    expect_private();
    const ThreadId thread = make_thread(store, "name");
    const auto lease = store.leases().acquire(LeaseKind::thread, thread.str(), "test");
    store.messages().append(thread, {.role = "user", .content = "secret"});
    store.threads().fork({.source = thread});
    expect_private();
    store.index()->compact();
    store.rebuild_index();
    expect_private();
  }
  open();
  expect_private();
  EXPECT_THAT(seen_, ::testing::IsSupersetOf({"state.db", "state.db-wal", "state.db-shm",
                                              "state.db.gate", "state.db.leases",
                                              "session_index.jsonl", "session_index.jsonl.lock"}));
}

TEST_P(PrivateFilesTest, TheBackupBeforeAMigrationIsItsOwnersAlone) {
  const Umask umask(GetParam());
  std::filesystem::create_directory(folder_ / "home");
  std::filesystem::permissions(folder_ / "home", std::filesystem::perms::owner_all);
  std::filesystem::copy_file(fixture("old-v3/state.db"), database());
  std::filesystem::permissions(database(), std::filesystem::perms(0600));
  open();
  expect_private();
  EXPECT_THAT(seen_, ::testing::Contains("state.db.v3.bak"));
}

INSTANTIATE_TEST_SUITE_P(AnyUmask, PrivateFilesTest, ::testing::Values(0000, 0022),
                         [](const auto& flavour) { return flavour.param == 0 ? "none" : "usual"; });

}  // namespace
}  // namespace threadstore::test
