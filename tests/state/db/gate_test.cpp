#include "state/db/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "tests/state/db/child.h"
#include "tests/support/temp_dir.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using test::Child;
using test::eventually;
using test::Shared;
using testing::HasSubstr;

struct Board {
  std::atomic<int> inside;
  std::atomic<int> collisions;
  std::atomic<int> ready;
  std::atomic<bool> go;
  std::array<std::atomic<int>, 16> served;
};

class GateTest : public testing::Test {
 protected:
  std::filesystem::path database() const { return directory_ / "state.db"; }
  std::filesystem::path gate_file() const { return directory_ / "state.db.gate"; }

  // Takes the gate `rounds` times and notes when it is not alone inside.
  void pass(WriterGate& gate, int who, int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      gate.lock(Deadline::after(20s));
      const std::unique_lock hold(gate, std::adopt_lock);
      if (board_->inside.fetch_add(1) != 0) ++board_->collisions;
      ++board_->served.at(static_cast<std::size_t>(who));
      board_->inside.fetch_sub(1);
    }
  }

  // A process that holds the gate until it is killed.
  Child holder() const {
    Child child([&] {
      WriterGate::for_database(database())->lock(Deadline::after(20s));
      board_->go = true;
      for (;;) ::pause();
      return 0;
    });
    EXPECT_TRUE(eventually([&] { return board_->go.load(); }));
    return child;
  }

  std::uint32_t hint(std::size_t index) const {
    const std::string bytes = test::read_file(gate_file());
    std::uint32_t value = 0;
    if (bytes.size() >= (index + 1) * 4) std::memcpy(&value, bytes.data() + index * 4, 4);
    return value;
  }
  std::uint32_t tickets_drawn() const { return hint(0); }

  test::TempDir directory_;
  Shared<Board> board_;
};

TEST_F(GateTest, EveryProcessIsServed) {
  constexpr int processes = 8;
  std::vector<Child> children;
  for (int who = 0; who < processes; ++who) {
    children.emplace_back([&, who] {
      const auto gate = WriterGate::for_database(database());
      ++board_->ready;
      eventually([&] { return board_->go.load(); });
      const auto end = std::chrono::steady_clock::now() + 3s;
      while (std::chrono::steady_clock::now() < end) pass(*gate, who, 1);
      return 0;
    });
  }
  ASSERT_TRUE(eventually([&] { return board_->ready == processes; }));
  board_->go = true;
  for (Child& child : children) EXPECT_EQ(child.wait(), 0);

  EXPECT_EQ(board_->collisions, 0);
  const auto [least, most] =
      std::minmax_element(board_->served.begin(), board_->served.begin() + processes,
                          [](const auto& a, const auto& b) { return a.load() < b.load(); });
  EXPECT_GT(least->load(), 0);
  std::printf("gate: least %d, most %d, ratio %.2f\n", least->load(), most->load(),
              static_cast<double>(least->load()) / most->load());
}

TEST_F(GateTest, ThreadsOfOneProcessExcludeEachOther) {
  const auto gate = WriterGate::for_database(database());
  std::vector<std::thread> threads;
  for (int who = 0; who < 4; ++who) {
    threads.emplace_back([&, who] { pass(*gate, who, 500); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(board_->collisions, 0);
  for (std::size_t who = 0; who < 4; ++who) EXPECT_EQ(board_->served.at(who), 500);
}

TEST_F(GateTest, IsOneObjectPerRealPath) {
  std::filesystem::create_directory_symlink(directory_.path(), directory_ / "link");
  EXPECT_EQ(WriterGate::for_database(database()),
            WriterGate::for_database(directory_ / "link" / "state.db"));
  EXPECT_NE(WriterGate::for_database(database()),
            WriterGate::for_database(directory_ / "other.db"));
}

TEST_F(GateTest, ItsFileIsPrivate) {
  const mode_t before = ::umask(0);
  pass(*WriterGate::for_database(database()), 0, 1);
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(gate_file()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(GateTest, AKilledHolderLetsTheOthersIn) {
  Child dead = holder();
  Child waiter([&] {
    pass(*WriterGate::for_database(database()), 0, 1);
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return tickets_drawn() > 0; }));
  dead.kill();
  EXPECT_EQ(waiter.wait(), 0);
}

TEST_F(GateTest, KilledWaitersAreSkipped) {
  Child in_the_way = holder();
  std::vector<Child> dead;
  for (std::uint32_t count = 1; count <= 5; ++count) {
    dead.emplace_back([&] {
      pass(*WriterGate::for_database(database()), 0, 1);
      return 0;
    });
    ASSERT_TRUE(eventually([&] { return tickets_drawn() == count; }));
  }
  Child alive([&] {
    pass(*WriterGate::for_database(database()), 1, 1);
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return tickets_drawn() == 6; }));
  for (Child& child : dead) child.kill();
  in_the_way.kill();
  EXPECT_EQ(alive.wait(), 0);
  EXPECT_EQ(board_->served.at(0), 0);
}

TEST_F(GateTest, WaitersAreServedInTheOrderOfTheirArrival) {
  Shared<std::array<std::atomic<int>, 4>> order;
  Shared<std::atomic<int>> position;
  Child first = holder();
  std::vector<Child> waiters;
  for (std::uint32_t who = 0; who < 4; ++who) {
    waiters.emplace_back([&, who] {
      const auto gate = WriterGate::for_database(database());
      gate->lock(Deadline::after(20s));
      order->at(who) = position->fetch_add(1);
      gate->unlock();
      return 0;
    });
    ASSERT_TRUE(eventually([&] { return tickets_drawn() == who + 1; }));
  }
  first.kill();
  for (Child& waiter : waiters) EXPECT_EQ(waiter.wait(), 0);
  for (int who = 0; who < 4; ++who) EXPECT_EQ(order->at(static_cast<std::size_t>(who)), who);
}

TEST_F(GateTest, AnyContentOfTheFileIsAValidHint) {
  std::mt19937 random(20240229);
  const auto round = [&](std::string content, const std::string& name) {
    SCOPED_TRACE(name);
    content.resize(4096, '\0');
    std::filesystem::remove(gate_file());
    test::write_file(gate_file(), content);
    std::vector<Child> children;
    for (int who = 0; who < 3; ++who) {
      children.emplace_back([&, who] {
        pass(*WriterGate::for_database(database()), who, 5);
        return 0;
      });
    }
    for (Child& child : children) EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(board_->collisions, 0);
  };
  const auto hints = [](std::array<std::uint32_t, 5> words) {
    std::string bytes(sizeof words, '\0');
    std::memcpy(bytes.data(), words.data(), sizeof words);
    return bytes;
  };
  round(std::string(4096, '\xff'), "all ones");
  round(hints({0, 1, 0, 0, 0}), "serving one ahead of next");
  round(hints({500, 0, 0, 1, 0}), "a queue of 500 that never was");
  round(hints({1024, 0, 0, 0, UINT32_MAX}), "the longest queue");
  round(hints({0, 0xfffffff0U, 7, 1, 3}), "wrapped");
  for (int seed = 0; seed < 12; ++seed) {
    std::string garbage(4096, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    round(garbage, "random " + std::to_string(seed));
  }
}

TEST_F(GateTest, GarbageWrittenWhileItIsUsedKeepsNobodyOut) {
  std::vector<Child> children;
  for (int who = 0; who < 4; ++who) {
    children.emplace_back([&, who] {
      const auto gate = WriterGate::for_database(database());
      while (!board_->go) pass(*gate, who, 1);
      return 0;
    });
  }
  ASSERT_TRUE(eventually([&] { return board_->served.at(0) > 0; }));
  std::mt19937 random(7);
  std::fstream file(gate_file(), std::ios::in | std::ios::out | std::ios::binary);
  for (int write = 0; write < 300; ++write) {
    const auto word = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 64);
    file.seekp(static_cast<std::streamoff>(random() % 5 * 4));
    file.write(reinterpret_cast<const char*>(&word), sizeof word);
    file.flush();
    std::this_thread::sleep_for(1ms);
  }
  board_->go = true;
  for (Child& child : children) EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(board_->collisions, 0);
}

TEST_F(GateTest, ADeadlineNamesFileAndHolder) {
  Child child = holder();
  const auto gate = WriterGate::for_database(database());
  try {
    gate->lock(Deadline::after(30ms));
    FAIL() << "the gate is held";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::busy);
    EXPECT_THAT(error.what(), HasSubstr(gate_file().string()));
    EXPECT_THAT(error.what(),
                HasSubstr("process " + std::to_string(child.pid()) + " (db_gate_tests)"));
  }
  child.kill();
  pass(*gate, 0, 1);  // who gave up left nothing behind
}

TEST_F(GateTest, ADeadlineAmongThreadsIsAnErrorToo) {
  const auto gate = WriterGate::for_database(database());
  gate->lock(Deadline::after(20s));
  std::thread([&] {
    try {
      gate->lock(Deadline::after(10ms));
      ADD_FAILURE() << "the gate is held";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("another thread of this process"));
    }
  }).join();
  gate->unlock();
  pass(*gate, 0, 1);
}

TEST_F(GateTest, AFileWithoutRoomForHintsIsPolled) {
  // A gate that may only be read, in a directory that may only be read: still one at a time.
  test::write_file(gate_file(), "");
  std::filesystem::permissions(gate_file(), std::filesystem::perms::owner_read |
                                                std::filesystem::perms::group_read |
                                                std::filesystem::perms::others_read);
  std::filesystem::permissions(directory_.path(), std::filesystem::perms{0555});
  std::vector<Child> children;
  for (int who = 0; who < 3; ++who) {
    children.emplace_back([&, who] {
      if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;
      pass(*WriterGate::for_database(database()), who, 100);
      return 0;
    });
  }
  for (Child& child : children) EXPECT_EQ(child.wait(), 0);
  std::filesystem::permissions(directory_.path(), std::filesystem::perms{0755});
  EXPECT_EQ(board_->collisions, 0);
  EXPECT_EQ(std::filesystem::file_size(gate_file()), 0U);
}

TEST_F(GateTest, WithoutAFileWritersGoOn) {
  std::filesystem::create_symlink("/dev/null", gate_file());  // never followed
  pass(*WriterGate::for_database(database()), 0, 3);
  EXPECT_EQ(board_->served.at(0), 3);
}

TEST_F(GateTest, AnUnlinkedFileIsMadeAgain) {
  const auto gate = WriterGate::for_database(database());
  pass(*gate, 0, 1);
  std::filesystem::remove(gate_file());
  pass(*gate, 0, 1);
  EXPECT_TRUE(std::filesystem::exists(gate_file()));
}

}  // namespace
}  // namespace threadstore::db
