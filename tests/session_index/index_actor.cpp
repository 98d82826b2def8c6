// A program that works on an index, for the tests with several processes.
//   index_actor append FILE PREFIX COUNT   threads PREFIX-0 …, each renamed once; prints each
//                                          finished entry, so that what it printed was acknowledged
//   index_actor compact FILE               compacts until its standard input ends
// Both print "ready" first and begin at the first line of their input.
#include <poll.h>

#include <iostream>
#include <string>

#include "threadstore/session_index.h"

using threadstore::SessionIndex;
using threadstore::ThreadId;

namespace {

/// Leaves the others a moment, and says whether the standard input ended in it.
bool input_ended() {
  pollfd entry{0, POLLIN, 0};
  return ::poll(&entry, 1, 10) > 0;
}

void append(SessionIndex& index, const std::string& prefix, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string id = prefix + "-" + std::to_string(i);
    for (const char* name : {"first ", "last "}) {
      index.append({.thread_id = ThreadId(id), .thread_name = name + id, .updated_at = i});
    }
    std::cout << id << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string work = argv[1];
  SessionIndex index(argv[2], {.deadline = std::chrono::seconds(60)});
  std::cout << "ready" << std::endl;
  std::string go;
  std::getline(std::cin, go);
  if (work == "append" && argc == 5) append(index, argv[3], std::stoi(argv[4]));
  while (work == "compact" && !input_ended()) index.compact();
  return 0;
}
