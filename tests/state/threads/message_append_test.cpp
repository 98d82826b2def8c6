#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

using test::error_of;
using ::testing::ElementsAre;

class MessagesTest : public test::MessageStore {};

Message message_of(const Messages& messages, const ThreadId& thread, MessageId id) {
  return messages.get(thread, id);
}

TEST_F(MessagesTest, AppendMovesTheLeafAndTheActivity) {
  const ThreadId thread = make_thread();
  now_ += 5;
  const Appended first = messages_.append(thread, {.role = "user", .content = "a"});
  const Appended second = messages_.append(thread, {.role = "assistant", .content = "b"});
  EXPECT_EQ(second, (Appended{.id = second.id,
                              .thread_id = thread,
                              .parent_entry_id = first.id,
                              .branched = false,
                              .replayed = false,
                              .current_leaf_id = second.id}));
  const Thread stored = store_.threads().get(thread);
  EXPECT_EQ(stored.current_leaf_id, second.id);
  EXPECT_EQ(stored.updated_at, test::start_of_time + 5);
  EXPECT_EQ(message_of(messages_, thread, second.id), (Message{.id = second.id,
                                                               .thread_id = thread,
                                                               .role = "assistant",
                                                               .content = "b",
                                                               .item = {},
                                                               .created_at = now_,
                                                               .parent_entry_id = first.id}));
}

TEST_F(MessagesTest, ActivityNeverGoesBack) {
  const ThreadId thread = make_thread();
  now_ -= 100;
  append(thread, "a");
  EXPECT_EQ(store_.threads().get(thread).updated_at, test::start_of_time);
}

TEST_F(MessagesTest, AppendToAMissingThreadIsNotFound) {
  EXPECT_EQ(error_of([&] { append(ThreadId("none"), "a"); }), ErrorCode::not_found);
  EXPECT_EQ(messages_.newest_id(), MessageId{0});
}

TEST_F(MessagesTest, KeepsEveryByteOfContentAndItem) {
  const ThreadId thread = make_thread();
  const std::string item = "{ \"z\": 12345678901234567890123, \"a\":[1.10] }";
  const std::string content = std::string("nul\0 \xF0\x9F\x98\x80 \xE2\x80\xA8", 14);
  const MessageId id =
      messages_.append(thread, {.role = "user", .content = content, .item = item}).id;
  const std::string large(5 << 20, 'x');
  const MessageId big = append(thread, large);
  const Message read = messages_.get(thread, id);
  EXPECT_EQ(read.content, content);
  EXPECT_EQ(read.item, item);
  EXPECT_FALSE(read.item_damaged || read.checksum_mismatch);
  EXPECT_TRUE(messages_.get(thread, big).content == large);
}

TEST_F(MessagesTest, KeepsAHundredMegabytesExactly) {
  const ThreadId thread = make_thread();
  std::string content(100'000'000, 'x');
  for (std::size_t i = 0; i < content.size(); i += 997) content[i] = static_cast<char>(i % 128);
  const MessageId id = messages_.append(thread, {.role = "tool", .content = content}).id;
  EXPECT_TRUE(messages_.get(thread, id).content == content);  // a failure shows no 100 MB
  EXPECT_TRUE(messages_.list(thread).messages.at(0).content == content);
}

TEST_F(MessagesTest, RefusesWhatIsNotUtf8WithItsOffset) {
  const ThreadId thread = make_thread();
  try {
    append(thread, "ab\xFF");
    FAIL() << "invalid UTF-8 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.details()["offset"], 2);
  }
  EXPECT_EQ(messages_.count(thread), 0);
}

TEST_F(MessagesTest, RefusesItemsThatAreNoJsonOrTooDeep) {
  const ThreadId thread = make_thread();
  const auto append_item = [&](const std::string& item) {
    return error_of([&] { messages_.append(thread, {.role = "u", .content = "", .item = item}); });
  };
  EXPECT_EQ(append_item("{\"a\":"), ErrorCode::invalid_argument);
  EXPECT_EQ(append_item(std::string(201, '[') + std::string(201, ']')),
            ErrorCode::invalid_argument);
  EXPECT_EQ(append_item(std::string(200, '[') + std::string(200, ']')), std::nullopt);
}

TEST_F(MessagesTest, ExpectedLeafThatMovedConflictsOrBranches) {
  const ThreadId thread = make_thread();
  const MessageId a = append(thread, "a");
  const MessageId b = append(thread, "b");
  const AppendOptions fail{.expected_leaf = ExpectedLeaf{a}};
  EXPECT_EQ(error_of([&] { messages_.append(thread, {.role = "u", .content = "c"}, fail); }),
            ErrorCode::conflict);
  const Appended side =
      messages_.append(thread, {.role = "u", .content = "c"},
                       {.expected_leaf = ExpectedLeaf{a}, .on_conflict = OnConflict::branch});
  EXPECT_EQ(side, (Appended{.id = side.id,
                            .thread_id = thread,
                            .parent_entry_id = a,
                            .branched = true,
                            .replayed = false,
                            .current_leaf_id = b}));
  EXPECT_THAT(branch(thread), ElementsAre("a", "b"));
  EXPECT_THAT(ids(messages_.leaves(thread)), ElementsAre(b, side.id));
}

TEST_F(MessagesTest, ExpectedLeafNamesBothLeavesInItsConflict) {
  const ThreadId thread = make_thread();
  const MessageId a = append(thread, "a");
  try {
    messages_.append(thread, {.role = "u", .content = "b"}, {.expected_leaf = ExpectedLeaf{}});
    FAIL() << "no conflict";
  } catch (const Error& error) {
    EXPECT_EQ(error.details()["expected_leaf"], nlohmann::json());
    EXPECT_EQ(error.details()["current_leaf"], to_int(a));
  }
}

TEST_F(MessagesTest, AnExpectedMessageOfAnotherThreadIsAConflictInBothModes) {
  const ThreadId thread = make_thread();
  const MessageId stranger = append(make_thread("other"), "x");
  append(thread, "a");
  for (const OnConflict mode : {OnConflict::fail, OnConflict::branch}) {
    for (const MessageId expected : {stranger, MessageId{999}}) {
      EXPECT_EQ(error_of([&] {
                  messages_.append(thread, {.role = "u", .content = "b"},
                                   {.expected_leaf = ExpectedLeaf{expected}, .on_conflict = mode});
                }),
                ErrorCode::conflict);
    }
  }
  EXPECT_EQ(messages_.count(thread), 1);
}

TEST_F(MessagesTest, AKeyGivesTheFirstAnswerAgain) {
  const ThreadId thread = make_thread();
  const NewMessage message{.role = "u", .content = "a", .item = "1"};
  Appended first = messages_.append(thread, message, {.key = "k"});
  append(thread, "b");
  const Appended again = messages_.append(thread, message, {.key = "k"});
  first.replayed = true;
  EXPECT_EQ(again, first);
  EXPECT_EQ(messages_.count(thread), 2);
}

TEST_F(MessagesTest, AKeyOfABatchGivesAllIdsAgain) {
  const ThreadId thread = make_thread();
  append(thread, "root");
  const std::vector<NewMessage> batch{{.role = "u", .content = "a"}, {.role = "u", .content = "b"}};
  AppendedMany first = messages_.append_many(thread, batch, {.key = "k"});
  first.last.replayed = true;
  const AppendedMany again = messages_.append_many(thread, batch, {.key = "k"});
  EXPECT_EQ(again.ids, first.ids);
  EXPECT_EQ(again.last, first.last);
}

TEST_F(MessagesTest, AKeyForAnotherRequestConflicts) {
  const ThreadId thread = make_thread();
  const AppendOptions options{.key = "k"};
  messages_.append(thread, {.role = "u", .content = "a"}, options);
  const auto try_again = [&](const NewMessage& message, const AppendOptions& with) {
    return error_of([&] { messages_.append(thread, message, with); });
  };
  EXPECT_EQ(try_again({.role = "u", .content = "b"}, options), ErrorCode::conflict);
  EXPECT_EQ(try_again({.role = "ua", .content = ""}, options), ErrorCode::conflict);
  EXPECT_EQ(try_again({.role = "u", .content = "a", .item = "null"}, options), ErrorCode::conflict);
  EXPECT_EQ(try_again({.role = "u", .content = "a"}, {.expected_leaf = ExpectedLeaf{}, .key = "k"}),
            ErrorCode::conflict);
}

TEST_F(MessagesTest, AKeyAndItsMessageAreFoundFromEachOther) {
  const ThreadId thread = make_thread();
  const MessageId keyed =
      messages_.append(thread, {.role = "user", .content = "a"}, {.key = "k"}).id;
  const MessageId plain = append(thread, "b");
  EXPECT_EQ(messages_.find_by_key(thread, "k"), keyed);
  EXPECT_EQ(messages_.find_by_key(thread, "other"), std::nullopt);
  EXPECT_EQ(messages_.find_by_key(make_thread("u"), "k"), std::nullopt);
  EXPECT_EQ(messages_.key_of(thread, keyed), "k");
  EXPECT_EQ(messages_.key_of(thread, plain), std::nullopt);
  messages_.clear(thread);
  EXPECT_EQ(messages_.find_by_key(thread, "k"), keyed) << "deleted stays known";
}

TEST_F(MessagesTest, AKeyWhoseMessageWasClearedConflicts) {
  const ThreadId thread = make_thread();
  const AppendOptions options{.key = "k"};
  messages_.append(thread, {.role = "u", .content = "a"}, options);
  messages_.clear(thread);
  EXPECT_EQ(error_of([&] { messages_.append(thread, {.role = "u", .content = "a"}, options); }),
            ErrorCode::conflict);
  EXPECT_EQ(messages_.count(thread), 0);
}

TEST_F(MessagesTest, AppendManyIsAllOrNothing) {
  const ThreadId thread = make_thread();
  EXPECT_EQ(error_of([&] { messages_.append_many(thread, {}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] {
              messages_.append_many(
                  thread, {{.role = "u", .content = "a"}, {.role = "u", .content = "\x80"}});
            }),
            ErrorCode::invalid_argument);
  EXPECT_THAT(branch(thread), ElementsAre());
  append_chain(thread, 3);
  EXPECT_THAT(branch(thread), ElementsAre("m1", "m2", "m3"));
}

TEST_F(MessagesTest, AStaleLeaseTokenIsRefused) {
  const ThreadId thread = make_thread();
  const Lease first = store_.leases().acquire(LeaseKind::thread, thread.str(), "test");
  messages_.append(thread, {.role = "u", .content = "a"}, {.lease = first.token()});
  const Lease second = store_.leases().take_over(LeaseKind::thread, thread.str(), "test");
  EXPECT_EQ(error_of([&] {
              messages_.append(thread, {.role = "u", .content = "b"}, {.lease = first.token()});
            }),
            ErrorCode::conflict);
  EXPECT_EQ(error_of([&] { messages_.set_current_leaf(thread, {}, first.token()); }),
            ErrorCode::conflict);
  messages_.append(thread, {.role = "u", .content = "c"}, {.lease = second.token()});
  EXPECT_THAT(branch(thread), ElementsAre("a", "c"));
}

TEST_F(MessagesTest, OrderIsInsertionNotClock) {
  const ThreadId thread = make_thread();
  append(thread, "a");
  now_ -= 1000;
  append(thread, "b");
  EXPECT_THAT(branch(thread), ElementsAre("a", "b"));
  EXPECT_THAT(contents(messages_.since(thread, MessageId{0})), ElementsAre("a", "b"));
}

TEST_F(MessagesTest, FourThreadsAppendOneChain) {
  const ThreadId thread = make_thread();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 50; ++i) append(thread, std::to_string(writer) + "/" + std::to_string(i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const auto chain = messages_.list(thread).messages;
  ASSERT_EQ(chain.size(), 200u);
  EXPECT_EQ(messages_.leaves(thread).size(), 1u);
  std::vector<int> next(4, 0);
  for (const Message& message : chain) {
    const auto writer = static_cast<std::size_t>(message.content[0] - '0');
    EXPECT_EQ(message.content.substr(2), std::to_string(next[writer]++));
  }
}

TEST_F(MessagesTest, ATransactionThatThrowsLeavesNoMessage) {
  const ThreadId thread = make_thread();
  EXPECT_THROW(store_.transaction([&] {
    append(thread, "a");
    EXPECT_THAT(branch(thread), ElementsAre("a"));
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_THAT(branch(thread), ElementsAre());
  EXPECT_EQ(store_.threads().get(thread).current_leaf_id, std::nullopt);
}

}  // namespace
}  // namespace threadstore
