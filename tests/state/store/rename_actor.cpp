// rename_actor FILE ID NAME: renames the thread and says "renamed".
#include <iostream>

#include "threadstore/state_store.h"

int main(int count, char** arguments) {
  using namespace threadstore;
  if (count != 4) return 2;
  const auto store = StateStore::open(arguments[1]);
  std::cout << "open" << std::endl;
  store.threads().rename(ThreadId(arguments[2]), arguments[3]);
  std::cout << "renamed" << std::endl;
}
