#include "cli/resolve/thread_ref.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/resolve/directory.h"
#include "cli/resolve/message_ref.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {
namespace {

class ThreadRefTest : public testing::Test {
 protected:
  ThreadId make(const std::string& id, const std::string& name = "",
                const std::string& cwd = "/elsewhere", UnixSeconds updated_at = 100) {
    NewThread thread{.id = ThreadId(id), .cwd = cwd, .created_at = updated_at};
    if (!name.empty()) thread.name = name;
    return store_.threads().create(thread).thread.id;
  }

  std::string found(const std::string& given) { return find_thread(store_, given).id.str(); }

  /// The code of the error that looking for it throws.
  ErrorCode error_of(const std::string& given) {
    try {
      static_cast<void>(find_thread(store_, given));
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << given << " was found";
    return ErrorCode::io;
  }

  StateStore store_ = StateStore::in_memory();
};

TEST_F(ThreadRefTest, AFullIdWinsOverANameAndANameOverAPartOfAnId) {
  make("work", "other");
  make("0000-first", "work");
  make("home-0001", "x");
  make("1111-second", "home");
  EXPECT_EQ(found("work"), "work");
  EXPECT_EQ(found("home"), "1111-second");
}

TEST_F(ThreadRefTest, NamesAreTakenInAnyCase) {
  make("a-thread", "Parser Rewrite");
  EXPECT_EQ(found("parser rewrite"), "a-thread");
}

TEST_F(ThreadRefTest, APartIsABeginningOrAnEndOfAtLeastFourCharacters) {
  make("0195c0de-1111-7000-8000-00000000aaaa");
  make("0195c0de-2222-7000-8000-00000000bbbb");
  EXPECT_EQ(found("aaaa"), "0195c0de-1111-7000-8000-00000000aaaa");
  EXPECT_EQ(found("0195c0de-2"), "0195c0de-2222-7000-8000-00000000bbbb");
  EXPECT_EQ(error_of("0195c0de"), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of("bbb"), ErrorCode::not_found);
  EXPECT_EQ(error_of("7000"), ErrorCode::not_found);
}

TEST_F(ThreadRefTest, SeveralOfOneNameAreListed) {
  make("one", "same");
  make("two", "SAME");
  try {
    static_cast<void>(find_thread(store_, "same"));
    FAIL() << "found one of two";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("one"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("two"), std::string::npos) << error.what();
  }
}

TEST_F(ThreadRefTest, LastIsTheMostRecentlyActiveOfThisDirectory) {
  const std::string here = current_directory();
  EXPECT_EQ(error_of("@last"), ErrorCode::not_found);
  make("old", "", here, 100);
  make("new", "", here, 200);
  make("elsewhere", "", "/elsewhere", 300);
  EXPECT_EQ(found("@last"), "new");
  store_.threads().archive(ThreadId("new"));
  EXPECT_EQ(found("@last"), "old");
}

TEST_F(ThreadRefTest, NothingIsNoThread) {
  EXPECT_EQ(error_of(""), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of("100%"), ErrorCode::not_found);
  EXPECT_EQ(error_of("____"), ErrorCode::not_found);
  EXPECT_EQ(error_of("../../etc/passwd"), ErrorCode::not_found);
}

TEST_F(ThreadRefTest, DeletionTakesOnlyAFullIdOrAnExactName) {
  make("0195c0de-1111-7000-8000-00000000aaaa", "Work");
  EXPECT_EQ(find_thread_to_delete(store_, "Work").name, "Work");
  EXPECT_EQ(find_thread_to_delete(store_, "0195c0de-1111-7000-8000-00000000aaaa").name, "Work");
  for (const char* given : {"work", "aaaa", "0195c0de"}) {
    EXPECT_THROW(static_cast<void>(find_thread_to_delete(store_, given)), Error) << given;
  }
}

TEST_F(ThreadRefTest, MessagesAreNamedByIdOrFromTheLeaf) {
  const ThreadId id = make("t");
  Messages messages = store_.messages();
  const Thread empty = store_.threads().get(id);
  EXPECT_THROW(find_message(store_, empty, std::string("@leaf")), Error);
  const MessageId first = messages.append(id, {.role = "user", .content = "a"}).id;
  const MessageId second = messages.append(id, {.role = "user", .content = "b"}).id;
  const Thread thread = store_.threads().get(id);
  EXPECT_EQ(find_message(store_, thread, std::string("@leaf")), second);
  EXPECT_EQ(find_message(store_, thread, std::string("@-0")), second);
  EXPECT_EQ(find_message(store_, thread, std::string("@-1")), first);
  EXPECT_EQ(find_message(store_, thread, std::string("17")), MessageId{17});
  EXPECT_EQ(find_message_or_none(store_, thread, "none"), std::nullopt);
  for (const char* given : {"@-2", "@-", "@-x", "x", "", "-1", "1x", "99999999999999999999"}) {
    EXPECT_THROW(find_message(store_, thread, std::string(given)), Error) << given;
  }
}

}  // namespace
}  // namespace threadstore::cli
