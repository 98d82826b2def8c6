#include "threadstore/search.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SearchTest : public test::MessageStore {
 protected:
  std::vector<MessageId> find(const SearchQuery& query) const {
    std::vector<MessageId> found;
    for (const SearchHit& hit : search_.find(query).items) found.push_back(hit.message_id);
    return found;
  }
  std::vector<MessageId> newest(const std::string& text) const {
    return find({.text = text, .order = SearchOrder::newest});
  }

  Search search_ = store_.search();
  ThreadId thread = make_thread();
};

TEST_F(SearchTest, AHitSaysWhereItStands) {
  store_.threads().rename(thread, "talk");
  append(thread, "something else");
  const MessageId id = append(thread, "The Parser fails");
  const Page<SearchHit> page = search_.find({.text = "parser"});
  const SearchHit expected{.thread_id = thread,
                           .thread_name = "talk",
                           .message_id = id,
                           .role = "user",
                           .created_at = test::start_of_time,
                           .snippet = {"The Parser fails", {{4, 6}}}};
  EXPECT_THAT(page.items, ElementsAre(expected));
  EXPECT_EQ(page.next, std::nullopt);
}

TEST_F(SearchTest, FindsToolOutputPhrasesCjkAndPartsOfIdentifiers) {
  const MessageId tool =
      messages_
          .append(thread, {.role = "tool",
                           .content = "",
                           .item = R"({"type":"output","text":"undefined reference to vtable"})"})
          .id;
  const MessageId chinese = append(thread, "请在数据库中搜索消息");
  const MessageId code = append(thread, "call read_from_private_copy(context)");
  EXPECT_THAT(newest("vtable"), ElementsAre(tool));
  EXPECT_THAT(newest("\"reference to\""), ElementsAre(tool));
  EXPECT_THAT(newest("\"to reference\""), IsEmpty());
  EXPECT_THAT(newest("数据库"), ElementsAre(chinese));
  EXPECT_THAT(newest("搜索"), ElementsAre(chinese));
  EXPECT_THAT(newest("库"), ElementsAre(chinese));
  EXPECT_THAT(newest("private_cop"), ElementsAre(code));
  EXPECT_THAT(newest("copy(context)"), ElementsAre(code));
}

TEST_F(SearchTest, TakesInWhatWasCommittedSince) {
  const MessageId first = append(thread, "one needle");
  EXPECT_THAT(newest("needle"), ElementsAre(first));
  const MessageId second = append(thread, "two needles");
  EXPECT_THAT(newest("needle"), ElementsAre(second, first));
  EXPECT_THAT(newest("needle NOT two"), ElementsAre(first));
}

TEST_F(SearchTest, TheBestComesFirst) {
  const MessageId dense = append(thread, "needle");
  append(thread, "a needle in " + std::string(500, 'x'));
  EXPECT_EQ(find({.text = "needle"}).front(), dense);
}

TEST_F(SearchTest, PagesGoOnWhereTheLastOneEnded) {
  for (int i = 0; i < 5; ++i)
    append(thread, "needle " + std::string(static_cast<std::size_t>(i), 'x'));
  for (const std::string text : {"needle", "ne"}) {
    for (const SearchOrder order : {SearchOrder::best, SearchOrder::newest}) {
      SearchQuery query{.text = text, .order = order, .limit = 100};
      const std::vector<MessageId> whole = find(query);
      EXPECT_EQ(whole.size(), 5u);
      std::vector<MessageId> paged;
      query.limit = 2;
      do {
        const Page<SearchHit> page = search_.find(query);
        for (const SearchHit& hit : page.items) paged.push_back(hit.message_id);
        query.after = page.next;
      } while (query.after);
      EXPECT_EQ(paged, whole) << text;
    }
  }
}

TEST_F(SearchTest, OfManyMatchesTheNewestComeFirst) {
  append(thread, "needle");
  append_chain(thread, 3000, "the needle of a longer text ");
  SearchQuery query{.text = "needle", .limit = 1000};
  std::vector<MessageId> paged;
  do {
    const Page<SearchHit> page = search_.find(query);
    for (const SearchHit& hit : page.items) paged.push_back(hit.message_id);
    query.after = page.next;
  } while (query.after);
  EXPECT_EQ(paged.size(), 3001u);
  EXPECT_TRUE(std::is_sorted(paged.rbegin(), paged.rend()));
}

TEST_F(SearchTest, EveryFilterMustMatch) {
  const ThreadId other =
      store_.threads()
          .create({.id = ThreadId("o"), .cwd = "/srv", .source = SessionSource::api})
          .thread.id;
  const MessageId mine = append(thread, "needle");
  now_ += 100;
  const MessageId theirs = messages_.append(other, {.role = "tool", .content = "needle"}).id;
  EXPECT_THAT(find({.text = "needle", .thread = other}), ElementsAre(theirs));
  EXPECT_THAT(find({.text = "needle", .cwd = "/srv"}), ElementsAre(theirs));
  EXPECT_THAT(find({.text = "needle", .role = "user"}), ElementsAre(mine));
  EXPECT_THAT(find({.text = "needle", .source = SessionSource::api}), ElementsAre(theirs));
  EXPECT_THAT(find({.text = "needle", .since = now_.load()}), ElementsAre(theirs));
  EXPECT_THAT(find({.text = "needle", .until = now_.load()}), ElementsAre(mine));
  EXPECT_THAT(find({.text = "needle", .thread = other, .role = "user"}), IsEmpty());
  EXPECT_EQ(error_of([&] { find({.text = "needle", .thread = ThreadId("none")}); }),
            ErrorCode::not_found);
}

TEST_F(SearchTest, AForkFindsWhatItInherited) {
  const MessageId before = append(thread, "needle before");
  const ThreadId fork = store_.threads().fork({.source = thread}).thread.id;
  const MessageId beside = append(thread, "needle beside");
  const MessageId own = append(fork, "needle own");
  EXPECT_THAT(find({.text = "needle", .thread = fork, .order = SearchOrder::newest}),
              ElementsAre(own, before));
  EXPECT_THAT(newest("needle"), ElementsAre(own, beside, before));
}

TEST_F(SearchTest, NothingDeletedIsFoundAndWhatForksKeepIs) {
  const MessageId kept = append(thread, "needle kept");
  const ThreadId fork = store_.threads().fork({.source = thread}).thread.id;
  append(thread, "needle deleted");
  EXPECT_EQ(newest("needle").size(), 2u);
  store_.threads().remove(thread);
  const Page<SearchHit> page = search_.find({.text = "needle"});
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].message_id, kept);
  EXPECT_EQ(page.items[0].thread_id, fork);
  messages_.clear(fork);
  EXPECT_THAT(newest("needle"), IsEmpty());
  EXPECT_THAT(newest("ne"), IsEmpty());
}

TEST_F(SearchTest, AHalfRemovedThreadIsNotFound) {
  append_chain(thread, 500, "needle");
  EXPECT_EQ(newest("needle").size(), 20u);
  EXPECT_ANY_THROW(store_.threads().remove(thread, [](auto, auto) { throw std::bad_alloc(); }));
  EXPECT_THAT(newest("needle"), IsEmpty());
  EXPECT_THAT(newest("ne"), IsEmpty());
}

TEST_F(SearchTest, AStoreInMemoryIsSearchedToo) {
  StateStore memory = StateStore::in_memory();
  memory.threads().create({.id = ThreadId("m")});
  const MessageId id =
      memory.messages().append(ThreadId("m"), {.role = "user", .content = "needle"}).id;
  const Page<SearchHit> page = memory.search().find({.text = "needle"});
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].message_id, id);
}

TEST_F(SearchTest, ATransactionFindsItsOwnMessagesAndIndexesNone) {
  append(thread, "first needle");
  EXPECT_ANY_THROW(store_.transaction([&] {
    append(thread, "lost needle");
    EXPECT_EQ(newest("needle").size(), 2u);
    EXPECT_EQ(error_of([&] { search_.rebuild(); }), ErrorCode::invalid_argument);
    throw std::bad_alloc();
  }));
  const MessageId again = append(thread, "another text");
  EXPECT_EQ(newest("needle").size(), 1u);
  EXPECT_THAT(newest("another"), ElementsAre(again));
}

TEST_F(SearchTest, WrongArgumentsAreRefused) {
  append(thread, "needle");
  append(thread, "needle");
  const auto code = [&](const SearchQuery& query) { return error_of([&] { find(query); }); };
  const std::string next = search_.find({.text = "needle", .limit = 1}).next.value();
  EXPECT_EQ(code({.text = "a OR"}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.text = "needle", .limit = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.text = "needle", .limit = 1001}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.text = "needle", .after = "x"}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.text = "needle", .after = "c1-1-1-78"}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.text = "needle", .order = SearchOrder::newest, .after = next}),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace threadstore
