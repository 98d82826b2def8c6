// search_actor FILE TEXT: searches, says "batch" for each batch that the index took in, then how
// many messages it found.
#include <iostream>

#include "threadstore/state_store.h"

int main(int count, char** arguments) {
  using namespace threadstore;
  if (count != 3) return 2;
  const auto store = StateStore::open(arguments[1]);
  const auto page = store.search().find({.text = arguments[2]}, [](std::int64_t, std::int64_t) {
    std::cout << "batch" << std::endl;
  });
  std::cout << page.items.size() << std::endl;
}
