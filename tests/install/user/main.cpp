#include <threadstore/state_store.h>

#include <iostream>

int main(int, char** argv) {
  using namespace threadstore;
  auto store = StateStore::open(argv[1]);  // one file, any number of processes
  auto diary = store.threads().create({.name = "diary", .cwd = "/home/me"}).thread.id;

  auto hello = store.messages().append(diary, {.role = "user", .content = "Hello"});
  // Says what it saw: refused with `conflict` if another terminal wrote in between.
  store.messages().append(diary, {.role = "assistant", .content = "Good morning"},
                          {.expected_leaf = ExpectedLeaf{hello.id}});

  auto draft = store.threads().fork({.source = diary, .at = hello.id}).thread.id;  // instant
  store.messages().append(draft, {.role = "assistant", .content = "Good evening"});

  for (const auto& message : store.messages().list(diary).messages) {
    std::cout << message.role << ": " << message.content << "\n";
  }
}
