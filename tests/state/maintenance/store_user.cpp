// store_user FILE hold|write THREAD: opens the store, says "ready", waits for a line. Then "hold"
// ends; "write" appends "1", "2", … to the thread until it reads another line.
#include <poll.h>

#include <iostream>
#include <string>

#include "threadstore/state_store.h"

int main(int count, char** words) {
  if (count != 4) return 2;
  using threadstore::StateStore;
  const StateStore store = StateStore::open(words[1], {.deadline = std::chrono::seconds(60)});
  const threadstore::ThreadId thread(words[3]);
  store.messages().count(thread);
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);
  if (words[2] == std::string("hold")) return 0;
  for (int number = 1;; ++number) {
    store.messages().append(thread, {.role = "user", .content = std::to_string(number)});
    pollfd input{.fd = 0, .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, 0) != 0) return 0;
  }
}
