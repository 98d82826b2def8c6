// Another process that works on a store. Prints "ready", waits for a line, then does what it is
// told:
//   record_actor FILE work           claims and completes jobs until none is queued; prints each id
//   record_actor FILE hold           claims one job, prints its id and holds it until it is killed
//   record_actor FILE accrue THREAD N   N times 1 token and 1 second; prints "counted" each time,
//                                       "passed" when it was told that it passed the budget
#include <iostream>
#include <string>

#include "threadstore/state_store.h"

namespace {

using namespace threadstore;

void work(Jobs jobs) {
  while (const auto claimed = jobs.claim("actor")) {
    std::cout << claimed->job.id << std::endl;
    jobs.update(claimed->job.id, {.status = JobStatus::completed}, claimed->lease.token());
  }
}

void hold(Jobs jobs) {
  const auto claimed = jobs.claim("doomed");
  std::cout << claimed->job.id << std::endl;
  std::string line;
  std::getline(std::cin, line);
}

void accrue(Goals goals, const ThreadId& thread, int times) {
  for (int i = 0; i < times; ++i) {
    const auto accrued = goals.record_usage(thread, {.tokens = 1, .seconds = 1});
    std::cout << (accrued->budget_passed ? "passed" : "counted") << std::endl;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const StateStore store =
      StateStore::open(arguments[1], {.deadline = std::chrono::milliseconds(60'000)});
  std::cout << "ready" << std::endl;
  std::string go;
  std::getline(std::cin, go);
  const std::string what = arguments[2];
  if (what == "work") work(store.jobs());
  if (what == "hold") hold(store.jobs());
  if (what == "accrue" && count == 5) {
    accrue(store.goals(), ThreadId(arguments[3]), std::stoi(arguments[4]));
  }
}
