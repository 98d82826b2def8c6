// Random work of several programs on one file, against a reader that is too simple to be wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "tests/session_index/reference_reader.h"
#include "tests/support/recording_system.h"
#include "tests/support/temp_dir.h"
#include "threadstore/logging.h"
#include "threadstore/session_index.h"

namespace threadstore {
namespace {

using std::string;
using test::by_id;
using test::reference_read;

TEST(SessionIndexModelTest, AgreesWithTheReferenceReader) {
  set_log_level(LogLevel::off);
  test::RecordingSystem no_syncs;
  const base::SystemOverride use(no_syncs);
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
    const test::TempDir dir;
    const std::filesystem::path file = dir / "session_index.jsonl";
    SessionIndex first(file), second(file);
    first.append({.thread_id = ThreadId("0"), .updated_at = 1});
    for (int step = 0; step < 40; ++step) {
      SessionIndex& writer = below(2) == 0 ? first : second;
      const ThreadId id("t" + std::to_string(below(6)));
      switch (below(8)) {
        case 0:
          writer.append_tombstone(id, 1'770'000'000 + step);
          break;
        case 1:
          writer.compact();
          break;
        case 2: {  // another program writes what it likes, sometimes without an end
          const string garbage[] = {"{\"thread_id\":\"t1\"",
                                    string(9, '\0'),
                                    "\n\n",
                                    "[1]\n",
                                    "\xFF\n",
                                    "{\"thread_id\":\"t2\",\"updated_at\":9,\"x\":1}\n",
                                    "{\"thread_id\":\"t3\",\"updated_at\":9}"};
          std::ofstream(file, std::ios::app | std::ios::binary) << garbage[below(7)];
          break;
        }
        case 3: {
          std::vector<IndexEntry> live = writer.entries();
          if (!live.empty()) live.pop_back();
          writer.rebuild([&] { return live; });
          break;
        }
        default:
          writer.append({.thread_id = id,
                         .thread_name = "Näme " + std::to_string(below(3)),
                         .updated_at = step,
                         .revived = below(4) == 0});
      }
      const auto expected = reference_read(file);
      ASSERT_EQ(by_id(first.entries()), expected) << "seed " << seed << " step " << step;
      ASSERT_EQ(by_id(second.entries()), expected) << "seed " << seed << " step " << step;
      for (const string name : {"NÄME 0", "näme 1", "Näme 2"}) {
        std::map<string, IndexEntry> wanted = expected;
        std::erase_if(wanted, [&](const auto& row) {
          return !row.second.thread_name || row.second.thread_name->back() != name.back();
        });
        ASSERT_EQ(by_id(first.find_by_name(name)), wanted) << "seed " << seed << " step " << step;
      }
    }
  }
  set_log_level(LogLevel::warn);
}

}  // namespace
}  // namespace threadstore
