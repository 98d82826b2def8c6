// Eight processes on one store: each on its own thread, all on one thread, and at its creation.

#include <algorithm>
#include <sstream>

#include "tests/bench/canary.h"
#include "tests/bench/raw_store.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"
#include "tests/bench/worker.h"

namespace threadstore::bench {
namespace {

constexpr int processes = 8;

/// What the workers of all rounds printed, merged.
struct Merged {
  std::vector<double> latencies;  ///< microseconds
  std::vector<double> fairness;   ///< least / most appends, per round
  std::vector<double> rates;      ///< appends per second of all together, per round
  double errors = 0;

  void take(const std::vector<std::string>& answers, double seconds) {
    std::vector<double> counts;
    for (const std::string& answer : answers) {
      std::istringstream in(answer);
      double own_errors = 0;
      if (!(in >> own_errors)) throw std::runtime_error("a worker failed: " + answer);
      errors += own_errors;
      const std::size_t before = latencies.size();
      for (double latency = 0; in >> latency;) latencies.push_back(latency);
      counts.push_back(static_cast<double>(latencies.size() - before));
    }
    double sum = 0;
    for (const double count : counts) sum += count;
    rates.push_back(sum / seconds);
    fairness.push_back(*std::min_element(counts.begin(), counts.end()) /
                       std::max(1.0, *std::max_element(counts.begin(), counts.end())));
  }

  double quantile(double part) {
    if (latencies.empty()) return 0;
    const auto at = latencies.begin() +
                    static_cast<std::ptrdiff_t>(part * static_cast<double>(latencies.size() - 1));
    std::nth_element(latencies.begin(), at, latencies.end());
    return *at;
  }
};

std::vector<std::vector<std::string>> jobs(const std::string& side, int count,
                                           const std::filesystem::path& file, bool one_thread,
                                           double seconds) {
  std::vector<std::vector<std::string>> jobs;
  for (int number = 0; number < count; ++number) {
    jobs.push_back({"append", side, (file / "state.db").string(),
                    made_thread(one_thread ? 0 : number).str(), std::to_string(seconds)});
  }
  return jobs;
}

std::vector<Line> swarm_lines(const Bench& bench, bool one_thread) {
  const auto ours_at = bench.scratch();
  const auto raw_at = bench.scratch();
  make_store(ours_at, {.threads = processes});
  copy_store(ours_at, raw_at);
  const int rounds = bench.scale.pick(1, 2, 5);
  const double seconds = bench.scale.pick(0.05, 0.5, 2.0);
  Canary canary(bench.disk);
  std::vector<double> canaries;
  Merged ours, raw;
  for (int round = 0; round < rounds; ++round) {
    canaries.push_back(canary.sing() * 1e6);
    raw.take(Workers(bench.self, jobs("raw", 1, raw_at, true, seconds)).run(), seconds);
    ours.take(Workers(bench.self, jobs("ours", processes, ours_at, one_thread, seconds)).run(),
              seconds);
  }
  const std::string who = one_thread ? "8 processes, one thread: " : "8 processes, own threads: ";
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.rates.size(); ++i)
    ratios.push_back(ours.rates[i] / raw.rates[i]);
  const double quiet = median(canaries);
  return {{.work = who + "appends beside one raw process",
           .unit = "/s",
           .ours = median(ours.rates),
           .raw = median(raw.rates),
           .ratio = median(ratios),
           .goal = Goal::speed(0.7),
           .canary = quiet},
          {.work = who + "errors",
           .unit = "",
           .ours = ours.errors,
           .goal = Goal::at_most(0),
           .canary = quiet},
          {.work = who + "p50", .ours = ours.quantile(0.5), .canary = quiet},
          {.work = who + "p99",
           .ours = ours.quantile(0.99),
           .goal = Goal::at_most(8000),
           .canary = quiet},
          {.work = who + "worst",
           .ours = ours.quantile(1),
           .goal = Goal::at_most(30'000),
           .canary = quiet},
          {.work = who + "least / most appends",
           .unit = "",
           .ours = median(ours.fairness),
           .goal = Goal::at_least(0.8),
           .canary = quiet}};
}

std::vector<Line> open_lines(const Bench& bench) {
  const int rounds = bench.scale.pick(1, 3, 10);
  double failed = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string file = (bench.scratch() / "state.db").string();
    Workers workers(bench.self, std::vector<std::vector<std::string>>(processes, {"open", file}));
    for (const std::string& answer : workers.run()) failed += answer == "ok" ? 0 : 1;
  }
  return {{.work = "8 processes open a new store at once, " + std::to_string(rounds) +
                   " times: failures",
           .unit = "",
           .ours = failed,
           .goal = Goal::at_most(0)}};
}

}  // namespace

void add_process_rows(const Bench& bench) {
  add(bench, FreeRow{.name = "processes/own",
                     .run = [](const Bench& b) { return swarm_lines(b, false); }});
  add(bench, FreeRow{.name = "processes/shared",
                     .run = [](const Bench& b) { return swarm_lines(b, true); }});
  add(bench, FreeRow{.name = "processes/open", .run = open_lines});
}

}  // namespace threadstore::bench
