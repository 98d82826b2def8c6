// lease_holder FILE ID [running]: holds the lease of thread ID until its input ends.
#include <iostream>
#include <string>

#include "threadstore/state_store.h"

int main(int count, char** arguments) {
  using namespace threadstore;
  if (count < 3) return 2;
  const auto store = StateStore::open(arguments[1]);
  try {
    const Lease lease = store.leases().acquire(LeaseKind::thread, arguments[2], "holder");
    if (count > 3) store.threads().set_status(ThreadId(arguments[2]), ThreadStatus::running);
    std::cout << "held" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
      std::cout << (lease.still_held() ? "still held" : "lost") << std::endl;
    }
  } catch (const Error& error) {
    std::cout << to_string(error.code()) << std::endl;
  }
}
