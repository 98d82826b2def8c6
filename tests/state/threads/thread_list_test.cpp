#include "state/threads/thread_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/schema/schema.h"
#include "state/threads/keyset_cursor.h"
#include "tests/state/schema/migrated_file.h"
#include "tests/support/opened_store.h"

namespace threadstore::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> ids(const std::vector<Thread>& threads) {
  std::vector<std::string> result;
  for (const Thread& thread : threads) result.push_back(thread.id.str());
  return result;
}

class ThreadListTest : public testing::Test {
 protected:
  void add(const std::string& id, UnixSeconds updated_at, NewThread thread = {}) {
    thread.id = ThreadId(id);
    thread.created_at = updated_at;
    threads_.create(thread);
  }
  std::vector<std::string> list(const ThreadFilter& filter) {
    EXPECT_EQ(threads_.count(filter),
              static_cast<std::int64_t>(threads_.list(filter).items.size()));
    return ids(threads_.list(filter).items);
  }

  const StateStore store_ = StateStore::in_memory();
  Threads threads_ = store_.threads();
};

TEST_F(ThreadListTest, MostRecentlyActiveFirstAndTiesByIdForAStableOrder) {
  add("a", 10);
  add("c", 20);
  add("b", 20);
  EXPECT_THAT(list({}), ElementsAre("c", "b", "a"));
  threads_.touch(ThreadId("a"), {}, 30);
  EXPECT_THAT(list({}), ElementsAre("a", "c", "b"));
}

TEST_F(ThreadListTest, EveryFilterNarrows) {
  add("cwd", 1, {.cwd = "/here"});
  add("source", 2, {.source = SessionSource::fork});
  add("provider", 3, {.model_provider = "deepseek"});
  add("name", 4, {.name = "Fix the PARSER"});
  add("status", 5);
  threads_.set_status(ThreadId("status"), ThreadStatus::running);
  add("archived", 6);
  threads_.archive(ThreadId("archived"));

  EXPECT_THAT(list({.cwd = "/here"}), ElementsAre("cwd"));
  EXPECT_THAT(list({.source = SessionSource::fork}), ElementsAre("source"));
  EXPECT_THAT(list({.model_provider = "deepseek"}), ElementsAre("provider"));
  EXPECT_THAT(list({.name_part = "the parser"}), ElementsAre("name"));
  EXPECT_THAT(list({.name_part = "%"}), ElementsAre());
  EXPECT_THAT(list({.status = ThreadStatus::running}), ElementsAre("status"));
  EXPECT_THAT(list({.archived = ArchivedFilter::archived}), ElementsAre("archived"));
  EXPECT_THAT(list({.archived = ArchivedFilter::all, .updated_since = 5}),
              ElementsAre("archived", "status"));
  EXPECT_THAT(list({.updated_since = 2, .updated_until = 4}), ElementsAre("provider", "source"));
  EXPECT_THAT(list({.cwd = "/here", .source = SessionSource::fork}), ElementsAre());
}

TEST_F(ThreadListTest, PagesMeetEveryThreadOnceWhileOthersMove) {
  for (int i = 0; i < 25; ++i) add("t" + std::to_string(10 + i), 100 + i / 3);
  for (const int i : {3, 7, 20}) threads_.archive(ThreadId("t" + std::to_string(10 + i)));
  for (const ArchivedFilter archived : {ArchivedFilter::active, ArchivedFilter::all}) {
    const auto whole = ids(threads_.list({.archived = archived}).items);
    std::vector<std::string> paged;
    ThreadFilter filter{.archived = archived, .limit = 4};
    for (;;) {
      const auto page = threads_.list(filter);
      for (const auto& id : ids(page.items)) paged.push_back(id);
      if (!page.next) break;
      filter.after = page.next;
    }
    EXPECT_EQ(paged, whole);
  }
  const auto first = threads_.list({.limit = 4});
  threads_.touch(ThreadId("t10"), {}, 500);  // jumps over the cursor: not skipped, seen in front
  EXPECT_EQ(ids(threads_.list({.limit = 1}).items), std::vector<std::string>{"t10"});
  EXPECT_THAT(ids(threads_.list({.after = first.next}).items), Not(Contains("t10")));
}

TEST_F(ThreadListTest, LastPageHasNoCursor) {
  add("a", 1);
  add("b", 2);
  EXPECT_EQ(threads_.list({.limit = 2}).next, std::nullopt);
  EXPECT_NE(threads_.list({.limit = 1}).next, std::nullopt);
}

TEST_F(ThreadListTest, GarbageInsteadOfACursorIsRefused) {
  for (const char* cursor :
       {"", "x", "c1-", "c1--", "c1-5-", "c1-5-0-6", "c1-5-0-zz", "c1-x-0-61", "c1-5-x-61",
        "c1-99999999999999999999-0-61", "c2-5-0-61", "c1-5-0-61 "}) {
    try {
      threads_.list({.after = cursor});
      FAIL() << cursor;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << cursor;
    }
  }
}

TEST_F(ThreadListTest, CursorTextHoldsAnyIdAndTime) {
  for (const auto& id : {std::string("a-b"), std::string("\0\xff", 2), std::string("ü")}) {
    const state::KeysetCursor position{-5, 7, id};
    EXPECT_EQ(state::KeysetCursor::parse(position.str()), position);
  }
}

TEST_F(ThreadListTest, LimitOutsideItsRangeIsRefused) {
  EXPECT_THROW(threads_.list({.limit = 0}), Error);
  EXPECT_THROW(threads_.list({.limit = 1001}), Error);
}

TEST(ThreadListPlanTest, ListAndCountWalkTheOneIndexInOrder) {
  const TempDir directory;
  const auto database = open_migrated(directory / "state.db");
  const auto plan = [&](const std::string& sql) {
    return database->read([&](db::Session& session) {
      return session.all(
          "EXPLAIN QUERY PLAN " + sql,
          {0, 1, "", 0, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, 50},
          [](const db::Row& row) { return row.text(3); });
    });
  };
  for (const std::string& sql : {state::list_sql(), state::count_sql()}) {
    const auto steps = plan(sql);
    EXPECT_THAT(
        steps, Contains(AllOf(HasSubstr("SEARCH threads"),
                              HasSubstr("threadstore_threads_list (archived=? AND updated_at>? AND "
                                        "(updated_at,id)<(?,?))"))));
    EXPECT_THAT(steps, Each(Not(HasSubstr("SCAN"))));
    EXPECT_THAT(steps, Each(Not(HasSubstr("TEMP B-TREE"))));
  }
}

}  // namespace
}  // namespace threadstore::test
