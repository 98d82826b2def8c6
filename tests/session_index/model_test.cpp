// Random work of several programs on one file, against a reader that is too simple to be wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/support/recording_system.h"
#include "tests/support/temp_dir.h"
#include "threadstore/logging.h"
#include "threadstore/session_index.h"

namespace threadstore {
namespace {

using nlohmann::json;
using std::string;

/// Reads the whole file at every question, line by line, as docs/session_index.md says.
std::map<string, IndexEntry> reference_read(const std::filesystem::path& file) {
  std::map<string, IndexEntry> rows;
  string text = test::read_file(file);
  text.resize(text.rfind('\n') + 1);
  std::istringstream lines(text);
  for (string line; std::getline(lines, line);) {
    if (line.find('\0') != string::npos) continue;  // the parser below takes it for the end
    const json value = json::parse(line, nullptr, false);
    if (!value.is_object() || !value.contains("updated_at")) continue;
    if (!value["updated_at"].is_number_integer() || !value.contains("thread_id")) continue;
    const auto text_or_null = [&](const char* key) {
      return value.contains(key) && value[key].is_string() ? std::optional(value[key].get<string>())
                                                           : std::nullopt;
    };
    IndexEntry entry{.thread_id = ThreadId(value["thread_id"]),
                     .thread_name = text_or_null("thread_name"),
                     .updated_at = value["updated_at"],
                     .rollout_path = text_or_null("rollout_path"),
                     .deleted = value.value("deleted", false),
                     .revived = value.contains("deleted") && !value["deleted"].get<bool>()};
    IndexEntry& row = rows[entry.thread_id.str()];
    if (row.deleted && !entry.deleted && !entry.revived) continue;
    row = entry;
    row.revived = false;
  }
  std::erase_if(rows, [](const auto& row) { return row.second.deleted; });
  return rows;
}

std::map<string, IndexEntry> by_id(const std::vector<IndexEntry>& entries) {
  std::map<string, IndexEntry> rows;
  for (const IndexEntry& entry : entries) rows[entry.thread_id.str()] = entry;
  return rows;
}

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
