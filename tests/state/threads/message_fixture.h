#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {

inline constexpr UnixSeconds start_of_time = 1'700'000'000;

/// A store in a directory of its own, whose clock stands still until it is moved.
class MessageStore : public ::testing::Test {
 protected:
  StateStore open() {
    OpenOptions options;
    options.clock = [this] { return now_.load() * 1000; };
    return StateStore::open(dir_ / "state.db", options);
  }

  ThreadId make_thread(const std::string& id = "t") {
    return store_.threads().create({.id = ThreadId(id)}).thread.id;
  }
  MessageId append(const ThreadId& thread, const std::string& content) {
    return messages_.append(thread, {.role = "user", .content = content}).id;
  }
  /// A chain of `count` messages "<prefix>1", "<prefix>2", … in one commit.
  std::vector<MessageId> append_chain(const ThreadId& thread, int count,
                                      const std::string& prefix = "m") {
    std::vector<NewMessage> chain;
    for (int i = 1; i <= count; ++i) {
      chain.push_back({.role = "user", .content = prefix + std::to_string(i)});
    }
    return messages_.append_many(thread, chain).ids;
  }
  std::vector<std::string> branch(const ThreadId& thread) {
    return contents(messages_.list(thread).messages);
  }

  static std::vector<std::string> contents(const std::vector<Message>& messages) {
    std::vector<std::string> result;
    for (const Message& message : messages) result.push_back(message.content);
    return result;
  }
  static std::vector<MessageId> ids(const std::vector<Message>& messages) {
    std::vector<MessageId> result;
    for (const Message& message : messages) result.push_back(message.id);
    return result;
  }

  TempDir dir_;
  std::atomic<UnixSeconds> now_{start_of_time};
  StateStore store_ = open();
  Messages messages_ = store_.messages();
};

/// The code of the error that `call` throws; nothing when it throws none.
template <class Call>
std::optional<ErrorCode> error_of(Call&& call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return error.code();
  }
}

}  // namespace threadstore::test
