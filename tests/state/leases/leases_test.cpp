#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/support/child_process.h"
#include "tests/support/opened_store.h"

namespace threadstore::test {
namespace {

using testing::HasSubstr;

class LeasesTest : public testing::Test {
 protected:
  StateStore open() const {
    return StateStore::open(directory_ / "state.db", {.clock = clock_.clock()});
  }
  std::unique_ptr<ChildProcess> holder(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command{LEASE_HOLDER, (directory_ / "state.db").string(), "t"};
    command.insert(command.end(), more.begin(), more.end());
    auto child = std::make_unique<ChildProcess>(command);
    EXPECT_EQ(child->read_line(), "held");
    return child;
  }
  /// A write as the holder.
  static void write_with(const StateStore& store, const LeaseToken& token) {
    store.messages().append(ThreadId("t"), {.role = "user", .content = "x"}, {.lease = token});
  }
  static ErrorCode code_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::io;
  }

  const TempDir directory_;
  const ManualClock clock_;
  const StateStore store_ = open();
  const Thread thread_ = store_.threads().create({.id = ThreadId("t")}).thread;
};

TEST_F(LeasesTest, HolderIsNamedToWhoComesSecond) {
  const Lease lease = store_.leases().acquire(LeaseKind::thread, "t", "chat");
  for (const StateStore& store : {store_, open()}) {
    try {
      store.leases().acquire(LeaseKind::thread, "t", "other");
      FAIL() << "acquired twice";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::conflict);
      EXPECT_THAT(error.what(), HasSubstr("chat (process " + std::to_string(::getpid())));
      EXPECT_EQ(error.details().at("owner").at("pid"), ::getpid());
      EXPECT_EQ(error.details().at("since"), clock_.seconds());
    }
  }
  const auto state = store_.leases().find(LeaseKind::thread, "t");
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->alive);
  EXPECT_EQ(state->token, lease.token());
  EXPECT_EQ(state->owner.program, "chat");
  EXPECT_GT(state->owner.process_start, 0);
}

TEST_F(LeasesTest, KindsAndIdsAreApart) {
  const Lease thread = store_.leases().acquire(LeaseKind::thread, "t", "chat");
  const Lease job = store_.leases().acquire(LeaseKind::job, "t", "worker");
  const Lease other = store_.leases().acquire(LeaseKind::thread, "u", "chat");
  EXPECT_TRUE(thread.still_held() && job.still_held() && other.still_held());
}

TEST_F(LeasesTest, ReleasedLeaseIsFreeAndItsTokenStaysStaleForEver) {
  Lease first = store_.leases().acquire(LeaseKind::thread, "t", "chat");
  const LeaseToken old = first.token();
  write_with(store_, old);
  first.release();
  EXPECT_FALSE(first.still_held());
  EXPECT_EQ(store_.leases().find(LeaseKind::thread, "t"), std::nullopt);
  EXPECT_EQ(code_of([&] { write_with(store_, old); }), ErrorCode::conflict);
  const Lease second = store_.leases().acquire(LeaseKind::thread, "t", "chat");
  EXPECT_EQ(code_of([&] { write_with(store_, old); }), ErrorCode::conflict);
  write_with(store_, second.token());
  EXPECT_EQ(store_.messages().count(ThreadId("t")), 2);
}

TEST_F(LeasesTest, EndOfScopeReleases) {
  { const Lease lease = store_.leases().acquire(LeaseKind::thread, "t", "chat"); }
  EXPECT_EQ(store_.leases().find(LeaseKind::thread, "t"), std::nullopt);
}

TEST_F(LeasesTest, TakeOverFromALivingHolderMakesItsTokenStale) {
  Lease old = store_.leases().acquire(LeaseKind::thread, "t", "chat");
  const Lease taken = open().leases().take_over(LeaseKind::thread, "t", "second chat");
  EXPECT_FALSE(old.still_held());
  EXPECT_TRUE(taken.still_held());
  EXPECT_EQ(taken.token().generation, old.token().generation + 1);
  EXPECT_EQ(code_of([&] { write_with(store_, old.token()); }), ErrorCode::conflict);
  old.release();  // gives back nothing: it is another's now
  EXPECT_TRUE(taken.still_held());
  EXPECT_TRUE(store_.leases().find(LeaseKind::thread, "t")->alive);
  write_with(store_, taken.token());
}

TEST_F(LeasesTest, TokenOfAnotherThingIsRefused) {
  const Lease other = store_.leases().acquire(LeaseKind::thread, "u", "chat");
  EXPECT_EQ(code_of([&] { write_with(store_, other.token()); }), ErrorCode::conflict);
  EXPECT_EQ(store_.messages().count(ThreadId("t")), 0);
}

TEST_F(LeasesTest, HolderInAnotherProcessIsSeenAndTakenOver) {
  const auto child = holder();
  EXPECT_EQ(store_.leases().find(LeaseKind::thread, "t")->owner.pid, child->pid());
  EXPECT_EQ(code_of([&] { store_.leases().acquire(LeaseKind::thread, "t", "chat"); }),
            ErrorCode::conflict);
  child->write_line("?");
  EXPECT_EQ(child->read_line(), "still held");
  const Lease taken = store_.leases().take_over(LeaseKind::thread, "t", "chat");
  child->write_line("?");
  EXPECT_EQ(child->read_line(), "lost");
}

TEST_F(LeasesTest, KilledHolderIsDeadAtOnceAndReplaced) {
  const auto child = holder();
  const LeaseToken dead = store_.leases().find(LeaseKind::thread, "t")->token;
  child->kill(SIGKILL);
  child->wait();
  EXPECT_FALSE(store_.leases().find(LeaseKind::thread, "t")->alive);
  const Lease lease = store_.leases().acquire(LeaseKind::thread, "t", "chat");
  EXPECT_EQ(lease.token().generation, dead.generation + 1);
  EXPECT_EQ(code_of([&] { write_with(store_, dead); }), ErrorCode::conflict);
}

TEST_F(LeasesTest, ThreadOfAKilledHolderIsInterrupted) {
  const auto child = holder({"running"});
  EXPECT_FALSE(store_.threads().get(ThreadId("t")).interrupted);
  child->kill(SIGKILL);
  child->wait();
  EXPECT_TRUE(store_.threads().get(ThreadId("t")).interrupted);
  EXPECT_TRUE(store_.threads().list().items.at(0).interrupted);
  const auto reader = StateStore::open(directory_ / "state.db", {.mode = OpenMode::read_only});
  EXPECT_TRUE(reader.threads().get(ThreadId("t")).interrupted);
  store_.threads().set_status(ThreadId("t"), ThreadStatus::idle);
  EXPECT_FALSE(store_.threads().get(ThreadId("t")).interrupted);
}

TEST_F(LeasesTest, RunningWithoutALeaseIsNotInterrupted) {
  store_.threads().set_status(ThreadId("t"), ThreadStatus::running);
  EXPECT_FALSE(store_.threads().get(ThreadId("t")).interrupted);
}

TEST_F(LeasesTest, LeaseFileIsPrivateAndNeverALink) {
  { const Lease lease = store_.leases().acquire(LeaseKind::thread, "t", "chat"); }
  const auto file = directory_ / "state.db.leases";
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  std::filesystem::remove(file);
  std::filesystem::create_symlink(directory_ / "elsewhere", file);
  EXPECT_EQ(code_of([&] { store_.leases().acquire(LeaseKind::thread, "t", "chat"); }),
            ErrorCode::io);
  EXPECT_EQ(store_.leases().find(LeaseKind::thread, "t"), std::nullopt);
}

TEST(InMemoryLeasesTest, ExcludeAndFreeLikeOthers) {
  const StateStore store = StateStore::in_memory();
  {
    const Lease lease = store.leases().acquire(LeaseKind::job, "j", "worker");
    EXPECT_THROW(store.leases().acquire(LeaseKind::job, "j", "worker"), Error);
  }
  EXPECT_TRUE(store.leases().acquire(LeaseKind::job, "j", "worker").still_held());
}

}  // namespace
}  // namespace threadstore::test
