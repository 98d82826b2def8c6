// Several threads of one process that append at once share commits.

#include <atomic>
#include <thread>

#include "tests/bench/canary.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {
namespace {

/// Messages per second of so many threads, each on its own thread of the store.
double rate(StateStore& store, int threads, int appends) {
  std::atomic<bool> go = false;
  std::vector<std::thread> workers;
  for (int number = 0; number < threads; ++number) {
    workers.emplace_back([&store, &go, number, appends] {
      go.wait(false);
      for (int i = 0; i < appends; ++i) {
        store.messages().append(made_thread(number),
                                {.role = "user", .content = made_content(1024, i)});
      }
    });
  }
  const double seconds = seconds_of([&] {
    go = true;
    go.notify_all();
    for (std::thread& worker : workers) worker.join();
  });
  return threads * appends / seconds;
}

std::vector<Line> group_lines(const Bench& bench) {
  StateStore store = make_store(bench.scratch(), {.threads = 8});
  Canary canary(bench.disk);
  const int rounds = bench.scale.pick(1, 3, 10);
  const int appends = bench.scale.pick(2, 100, 300);
  std::vector<double> canaries, alone, ratios[9];
  std::vector<double> rates[9];
  for (int round = 0; round < rounds; ++round) {
    canaries.push_back(canary.sing() * 1e6);
    alone.push_back(rate(store, 1, appends));
    for (const int threads : {2, 4, 8}) {
      rates[threads].push_back(rate(store, threads, appends));
      ratios[threads].push_back(rates[threads].back() / alone.back());
    }
  }
  std::vector<Line> lines;
  for (const int threads : {2, 4, 8}) {
    lines.push_back({.work = std::to_string(threads) + " threads append at once, speed beside one",
                     .unit = "x",
                     .ours = median(ratios[threads]),
                     .goal = threads == 8 ? Goal::at_least(3) : Goal{},
                     .canary = median(canaries)});
  }
  lines.push_back({.work = "8 threads append at once",
                   .unit = "/s",
                   .ours = median(rates[8]),
                   .canary = median(canaries)});
  return lines;
}

}  // namespace

void add_thread_rows(const Bench& bench) {
  add(bench, FreeRow{.name = "group_commit", .run = group_lines});
}

}  // namespace threadstore::bench
