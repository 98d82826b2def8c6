// The program on damaged stores (promise 17): it ends with an answer or an error that says damage,
// never by a signal, and no byte of the store changes. Where its doctor finds nothing, every
// message is what was stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/state/maintenance/store_files.h"
#include "tests/support/child_process.h"
#include "tests/support/mutation.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

class DamagedProgramTest : public ::testing::Test {
 protected:
  DamagedProgramTest() {
    {
      const StateStore store = StateStore::open(home_ / "state.db");
      for (const char* id : {"t1", "t2"}) {
        store.threads().create({.id = ThreadId(id), .name = std::string("name of ") + id});
        for (int n = 0; n < 40; ++n) {
          store.messages().append(
              ThreadId(id),
              {.role = "user",
               .content = std::string(n % 9 == 0 ? 5000 : 100, 'm') + std::to_string(n)});
        }
        store.checkpoints().save(ThreadId(id), {.id = CheckpointId("point"), .state = "[1]"});
        store.goals().set(ThreadId(id), {.objective = "ship"});
      }
    }
    whole_ = read_file(home_ / "state.db");
    index_ = read_file(home_ / "session_index.jsonl");
    contents_ = contents();
  }

  int run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {THREADSTORE_PROGRAM, "--quiet", "--home", home_.path().string()});
    ChildProcess program(arguments);
    program.close_input();
    while (program.read_line()) {
    }
    return program.wait();
  }

  void put(const std::string& database) const {
    for (const std::string& name : names_in(home_.path())) fs::remove_all(home_ / name);
    write_file(home_ / "state.db", database);
    write_file(home_ / "session_index.jsonl", index_);
  }

  std::vector<std::string> contents() const {
    std::vector<std::string> contents;
    const auto store = StateStore::open(home_ / "state.db", {.mode = OpenMode::read_only});
    for (const Message& message : store.messages().since({}, {}, 1000)) {
      contents.push_back(message.content);
    }
    return contents;
  }

  const TempDir home_;
  const TempDir elsewhere_;
  std::string whole_;
  std::string index_;
  std::vector<std::string> contents_;
};

TEST_F(DamagedProgramTest, AnswersOrSaysDamageAndChangesNoByte) {
  // 2: it is no store at all any more; 3: the thread is not in it; 7: its version is a higher one.
  const auto said = ::testing::AnyOf(0, 2, 3, 6, 7);
  int whole = 0;
  int damaged = 0;
  const auto look = [&](int seed, const std::string& bytes) {
    put(bytes);
    const int list = run({"list"});
    const int show = run({"show", "t1"});
    const int doctor = run({"doctor"});
    EXPECT_THAT(list, said);
    EXPECT_THAT(show, said);
    EXPECT_THAT(doctor, said);
    EXPECT_TRUE(read_file(home_ / "state.db") == bytes);
    ++(doctor == 0 ? whole : damaged);
    if (doctor == 0) {
      EXPECT_EQ(list, 0);
      EXPECT_THAT(show, ::testing::AnyOf(0, 3));  // a thread's name has no checksum
      EXPECT_TRUE(contents() == contents_);
    }
    const fs::path rescued = elsewhere_ / (std::to_string(seed) + ".db");
    EXPECT_THAT(run({"salvage", (home_ / "state.db").string(), rescued.string()}), said);
    EXPECT_TRUE(read_file(home_ / "state.db") == bytes);
  };
  look(0, whole_);
  EXPECT_EQ(whole, 1);
  each_seed(15, [&](int seed) { look(seed, mutated(whole_, seed)); });
  EXPECT_GT(damaged, 0);
}

}  // namespace
}  // namespace threadstore::test
