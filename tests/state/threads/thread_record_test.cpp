#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/opened_store.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A thread whose fields all differ from each other and from the defaults.
Thread distinct_thread() {
  return {
      .id = ThreadId("the id"),
      .rollout_path = "the rollout_path",
      .preview = "the preview",
      .ephemeral = true,
      .model_provider = "the model_provider",
      .created_at = 101,
      .updated_at = 102,
      .status = ThreadStatus::paused,
      .path = "the path",
      .cwd = "the cwd",
      .cli_version = "the cli_version",
      .source = SessionSource::api,
      .name = "the name",
      .sandbox_policy = "the sandbox_policy",
      .approval_mode = "the approval_mode",
      .archived = true,
      .archived_at = 103,
      .git_sha = "the git_sha",
      .git_branch = "the git_branch",
      .git_origin_url = "the git_origin_url",
      .memory_mode = "the memory_mode",
      .current_leaf_id = {},
      .forked_from = {},
  };
}

class ThreadRecordTest : public testing::Test {
 protected:
  const ManualClock clock_;
  const StateStore store_ = StateStore::in_memory({.clock = clock_.clock()});
  Threads threads_ = store_.threads();
};

TEST_F(ThreadRecordTest, SavedRowReadsBackEqualWithEveryFieldDistinct) {
  const Thread thread = distinct_thread();
  EXPECT_EQ(threads_.upsert(thread).thread, thread);
  EXPECT_EQ(threads_.get(thread.id), thread);
  EXPECT_THAT(threads_.list({.archived = ArchivedFilter::archived}).items, ElementsAre(thread));
}

TEST_F(ThreadRecordTest, AbsentFieldsStayAbsent) {
  Thread thread;
  thread.id = ThreadId("bare");
  threads_.upsert(thread);
  EXPECT_EQ(threads_.get(thread.id), thread);
}

TEST_F(ThreadRecordTest, UpsertReplacesEveryColumnButTheLeaf) {
  Thread thread = distinct_thread();
  threads_.create({.id = thread.id, .name = "before"});
  const MessageId leaf = store_.messages().append(thread.id, {.role = "user", .content = "hi"}).id;
  thread.current_leaf_id = MessageId{4711};
  threads_.upsert(thread);
  thread.current_leaf_id = leaf;
  EXPECT_EQ(threads_.get(thread.id), thread);
}

TEST_F(ThreadRecordTest, TextsWithNulAndFourByteCharactersAreKept) {
  Thread thread = distinct_thread();
  thread.preview = std::string("a\0b\U0001F42C", 7);
  thread.name = std::string("n\0m", 3);
  threads_.upsert(thread);
  EXPECT_EQ(threads_.get(thread.id), thread);
}

TEST_F(ThreadRecordTest, InvalidUtf8IsRefusedByFieldAndOffset) {
  Thread thread = distinct_thread();
  thread.cwd = "/home/\xff";
  try {
    threads_.upsert(thread);
    FAIL() << "stored";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("cwd"), HasSubstr("6")));
  }
  EXPECT_EQ(threads_.count({.archived = ArchivedFilter::all}), 0);
}

TEST_F(ThreadRecordTest, CreateFillsInIdTimesAndStatus) {
  const Thread made = threads_.create({.name = "new", .cwd = "/home"}).thread;
  EXPECT_EQ(made.id.str().size(), 36U);
  EXPECT_EQ(made.created_at, clock_.seconds());
  EXPECT_EQ(made.updated_at, clock_.seconds());
  EXPECT_EQ(made.status, ThreadStatus::idle);
  EXPECT_EQ(threads_.get(made.id), made);
}

TEST_F(ThreadRecordTest, TakenIdIsAConflictAndTheThreadStays) {
  const Thread made = threads_.create({.id = ThreadId("x"), .name = "first"}).thread;
  try {
    threads_.create({.id = ThreadId("x"), .name = "second"});
    FAIL() << "made twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::conflict);
  }
  EXPECT_EQ(threads_.get(made.id), made);
}

TEST_F(ThreadRecordTest, MissingThreadIsNamed) {
  EXPECT_EQ(threads_.find(ThreadId("nobody")), std::nullopt);
  try {
    threads_.get(ThreadId("nobody"));
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
    EXPECT_THAT(error.what(), HasSubstr("nobody"));
  }
}

TEST_F(ThreadRecordTest, PatchChangesOnlyWhatItSetsAndNotTheActivity) {
  const Thread before = threads_.upsert(distinct_thread()).thread;
  clock_.clock();
  Thread expected = before;
  expected.name = "renamed";
  expected.git_branch.reset();
  expected.preview = "other";
  const Thread after =
      threads_
          .update(before.id,
                  {.name = Patch<std::string>("renamed"), .git_branch = clear, .preview = "other"})
          .thread;
  EXPECT_EQ(after, expected);
  EXPECT_EQ(threads_.get(before.id), expected);
}

TEST_F(ThreadRecordTest, TouchMovesTheActivityForwardOnly) {
  const ThreadId id = threads_.create({.preview = "p", .created_at = 100}).thread.id;
  EXPECT_EQ(threads_.touch(id, {}, 200).updated_at, 200);
  const Thread later = threads_.touch(id, "words", 150);
  EXPECT_EQ(later.updated_at, 200);
  EXPECT_EQ(later.preview, "words");
  EXPECT_EQ(threads_.touch(id).updated_at, clock_.seconds());
}

TEST_F(ThreadRecordTest, ArchiveAndUnarchiveSayWhetherTheThreadWasThere) {
  const Thread made = threads_.create({}).thread;
  EXPECT_TRUE(threads_.archive(made.id));
  const Thread archived = threads_.get(made.id);
  EXPECT_TRUE(archived.archived);
  EXPECT_EQ(archived.archived_at, clock_.seconds());
  EXPECT_EQ(archived.status, ThreadStatus::archived);
  EXPECT_EQ(archived.updated_at, made.updated_at);
  EXPECT_TRUE(threads_.unarchive(made.id));
  EXPECT_EQ(threads_.get(made.id), made);
  EXPECT_FALSE(threads_.archive(ThreadId("nobody")));
  EXPECT_FALSE(threads_.unarchive(ThreadId("nobody")));
}

TEST_F(ThreadRecordTest, UnarchiveKeepsAStatusThatWasSetSince) {
  Thread thread = distinct_thread();
  thread.status = ThreadStatus::failed;
  threads_.upsert(thread);
  threads_.unarchive(thread.id);
  EXPECT_EQ(threads_.get(thread.id).status, ThreadStatus::failed);
}

TEST_F(ThreadRecordTest, StatusNeverOverwritesArchivedNorMovesTheActivity) {
  const Thread made = threads_.create({.created_at = 100}).thread;
  threads_.set_status(made.id, ThreadStatus::running);
  EXPECT_EQ(threads_.get(made.id).status, ThreadStatus::running);
  EXPECT_EQ(threads_.get(made.id).updated_at, 100);
  threads_.archive(made.id);
  threads_.set_status(made.id, ThreadStatus::idle);
  EXPECT_EQ(threads_.get(made.id).status, ThreadStatus::archived);
  EXPECT_THROW(threads_.set_status(made.id, ThreadStatus::archived), Error);
}

TEST_F(ThreadRecordTest, MemoryModeIsOneColumn) {
  const ThreadId id = threads_.create({.memory_mode = "local"}).thread.id;
  EXPECT_EQ(threads_.memory_mode(id), "local");
  threads_.set_memory_mode(id, std::nullopt);
  EXPECT_EQ(threads_.memory_mode(id), std::nullopt);
}

TEST_F(ThreadRecordTest, NamesAreFoundWhateverTheirCase) {
  const ThreadId older = threads_.create({.name = "Fix It", .created_at = 1}).thread.id;
  const ThreadId newer = threads_.create({.name = "fix it", .created_at = 2}).thread.id;
  threads_.create({.name = "fix it too"});
  threads_.archive(older);
  std::vector<ThreadId> found;
  for (const Thread& thread : threads_.find_by_name("FIX IT")) found.push_back(thread.id);
  EXPECT_THAT(found, ElementsAre(newer, older));
}

TEST_F(ThreadRecordTest, IdsAreFoundByBeginningAndEnd) {
  for (const char* id : {"abc-111", "abc-222", "xyz-abc", "a%c-333"}) {
    threads_.create({.id = ThreadId(id), .created_at = 1});
  }
  const auto found = [&](const std::string& part, std::size_t limit = 20) {
    std::vector<std::string> ids;
    for (const Thread& thread : threads_.find_by_id_part(part, limit)) {
      ids.push_back(thread.id.str());
    }
    return ids;
  };
  EXPECT_THAT(found("abc"), ElementsAre("xyz-abc", "abc-222", "abc-111"));
  EXPECT_THAT(found("a%c"), ElementsAre("a%c-333"));
  EXPECT_THAT(found("222"), ElementsAre("abc-222"));
  EXPECT_THAT(found("abc", 1), ElementsAre("xyz-abc"));
  EXPECT_THAT(found("nothing"), ElementsAre());
  EXPECT_THROW(found(""), Error);
}

}  // namespace
}  // namespace threadstore::test
