#include <gmock/gmock.h>

#include <algorithm>

#include "tests/exchange/import_support.h"
#include "tests/support/opened_store.h"

namespace threadstore {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ImportStateTest : public test::ImportTest {
 protected:
  /// A copy of a fixture's store.
  Path store_of(const std::string& fixture) {
    const Path folder = dir_ / fixture;
    std::filesystem::create_directory(folder);
    test::copy_fixture(fixture, folder);
    return folder / "state.db";
  }

  std::vector<std::string> contents(const ThreadId& thread) const {
    std::vector<std::string> contents;
    for (const Message& message : branch(thread)) contents.push_back(message.content);
    return contents;
  }
};

TEST_F(ImportStateTest, AStoreOfTheOriginalComesWithAllItsThreads) {
  const Path file = store_of("original-v5");
  const std::string before = test::read_file(file);
  const ImportReport report = import({file});
  EXPECT_THAT(test::whys(report), IsEmpty());
  EXPECT_EQ(test::read_file(file), before);
  const StateStore source = StateStore::open(file, {.mode = OpenMode::read_only});
  const auto wanted = source.threads().list({.archived = ArchivedFilter::all}).items;
  EXPECT_EQ(report.threads, static_cast<std::int64_t>(wanted.size()));
  for (const Thread& thread : wanted) {
    SCOPED_TRACE(thread.id.str());
    Thread found = store_.threads().get(thread.id);
    const auto leaf_text = [](const StateStore& store, const Thread& of) {
      return of.current_leaf_id ? store.messages().get(of.id, *of.current_leaf_id).content : "";
    };
    EXPECT_EQ(leaf_text(store_, found), leaf_text(source, thread));
    found.current_leaf_id = thread.current_leaf_id;
    found.interrupted = thread.interrupted;
    if (thread.status == ThreadStatus::running) found.status = thread.status;
    EXPECT_EQ(found, thread);
    const auto shape = [](const StateStore& store, const ThreadId& id) {
      std::vector<std::string> lines;
      for (const Message& message : store.messages().since(id, MessageId{0})) {
        const auto parent = message.parent_entry_id
                                ? store.messages().get(id, *message.parent_entry_id).content
                                : std::string("-");
        lines.push_back(message.role + "|" + message.content + "|" + message.item.value_or("") +
                        "|" + std::to_string(message.created_at) + "|" + parent);
      }
      return lines;
    };
    EXPECT_EQ(shape(store_, thread.id), shape(source, thread.id));
    const auto names = [](const StateStore& store, const ThreadId& id) {
      std::vector<std::string> saved;
      for (const auto& each : store.checkpoints().list(id).items) {
        saved.push_back(each.checkpoint_id.str() + each.state);
      }
      return saved;
    };
    EXPECT_EQ(names(store_, thread.id), names(source, thread.id));
    EXPECT_EQ(store_.tools().list(thread.id), source.tools().list(thread.id));
    EXPECT_EQ(store_.goals().find(thread.id), source.goals().find(thread.id));
  }
  const ImportReport second = import({file});
  EXPECT_EQ(second.threads + second.messages + second.grown, 0);
}

TEST_F(ImportStateTest, AnOldSchemaIsReadFromACopy) {
  const Path file = store_of("old-v1");
  import({file});
  EXPECT_THAT(contents(ThreadId("old-1")), ElementsAre("a", "b", "c", "d"));
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".v1.bak"));
}

TEST_F(ImportStateTest, ANewerSchemaIsReportedAndCostsOnlyItself) {
  const ImportReport report = import({store_of("newer-v6"), store_of("old-v2")});
  ASSERT_EQ(report.skipped_total, 1);
  EXPECT_TRUE(store_.threads().find(ThreadId("old-1")).has_value());
}

TEST_F(ImportStateTest, ForksStayForks) {
  const Path file = dir_ / "other.db";
  const ThreadId source("z-source");
  {
    StateStore other = StateStore::open(file);
    other.threads().create({.id = source});
    const MessageId first = other.messages().append(source, {.role = "user", .content = "a"}).id;
    other.messages().append(source, {.role = "user", .content = "b"});
    other.threads().fork({.source = source, .at = first, .id = ThreadId("a-fork")});
    other.messages().append(ThreadId("a-fork"), {.role = "user", .content = "c"});
  }
  EXPECT_EQ(import({file}).messages, 3);
  EXPECT_THAT(contents(ThreadId("a-fork")), ElementsAre("a", "c"));
  EXPECT_EQ(store_.threads().get(ThreadId("a-fork")).forked_from->thread_id, source);
  EXPECT_EQ(import({file}).messages, 0);
}

/// A copy of the store itself holds the same messages under the same numbers.
TEST_F(ImportStateTest, ABackupBringsOnlyWhatIsNotThereAnyMore) {
  const ThreadId id("mine");
  store_.threads().create({.id = id});
  store_.messages().append(id, {.role = "user", .content = "a"});
  store_.backup(dir_ / "backup.db");
  store_.messages().append(id, {.role = "user", .content = "b"});
  const ImportReport report = import({dir_ / "backup.db"});
  EXPECT_EQ(report.messages, 0);
  EXPECT_EQ(report.already_present, 1);
  EXPECT_THAT(contents(id), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace threadstore
