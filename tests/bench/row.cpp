#include "tests/bench/row.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "tests/bench/canary.h"

namespace threadstore::bench {
namespace {

std::vector<Line>& all_lines() {
  static std::vector<Line> lines;
  return lines;
}

/// What the rounds of one row measured, in seconds of one side's whole work.
struct Rounds {
  std::vector<double> ours, raw, ratio, canary;
};

Line line_of(const PairedRow& row, const Rounds& rounds, double operations) {
  Line line{.work = row.work, .goal = row.goal};
  line.ours = median(rounds.ours) / operations * 1e6;
  line.canary = median(rounds.canary) * 1e6;
  if (!rounds.raw.empty()) {
    line.raw = median(rounds.raw) / operations * 1e6;
    line.ratio = median(rounds.ratio);
  }
  return line;
}

void show(benchmark::State& state, const Line& line) {
  state.counters["ours"] = line.ours;
  if (line.raw) state.counters["raw"] = *line.raw;
  if (line.ratio) state.counters["ratio"] = *line.ratio;
  if (line.goal.kind != Goal::Kind::none) state.counters["met"] = line.met() ? 1 : 0;
}

/// Who begins changes with every round: the first one may find a quieter or a busier disk.
void measure(benchmark::State& state, const Bench& bench, const PairedRow& row) {
  const Sides sides = row.prepare(bench);
  Canary canary(bench.disk);
  sides.ours();  // prepares statements, fills caches
  if (sides.raw) sides.raw();
  Rounds rounds;
  bool ours_first = true;
  for (auto unused : state) {
    (void)unused;
    rounds.canary.push_back(canary.sing());
    double raw = 0;
    if (sides.raw && !ours_first) raw = seconds_of(sides.raw);
    const double ours = seconds_of(sides.ours);
    if (sides.raw && ours_first) raw = seconds_of(sides.raw);
    ours_first = !ours_first;
    rounds.ours.push_back(ours);
    if (sides.raw) {
      rounds.raw.push_back(raw);
      rounds.ratio.push_back(row.goal.kind == Goal::Kind::time_at_most ? ours / raw : raw / ours);
    }
    state.SetIterationTime(ours);
  }
  all_lines().push_back(line_of(row, rounds, sides.operations));
  show(state, all_lines().back());
}

/// A row that fails is reported, and the others still run.
void run_guarded(benchmark::State& state, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

}  // namespace

bool Line::met() const {
  switch (goal.kind) {
    case Goal::Kind::speed_at_least:
      return ratio && *ratio >= goal.limit;
    case Goal::Kind::time_at_most:
      return ratio && *ratio <= goal.limit;
    case Goal::Kind::value_at_most:
      return ours <= goal.limit;
    case Goal::Kind::value_at_least:
      return ours >= goal.limit;
    case Goal::Kind::none:
      return true;
  }
  return true;
}

std::filesystem::path Bench::scratch(const std::filesystem::path& place) const {
  static int number = 0;
  std::filesystem::path directory = place / std::to_string(++number);
  std::filesystem::create_directory(directory);
  return directory;
}

void add(const Bench& bench, PairedRow row) {
  const int rounds = bench.scale.pick(1, std::max(3, row.rounds / 5), row.rounds);
  const std::string name = row.name;
  const auto run = [bench, row = std::move(row)](benchmark::State& state) {
    run_guarded(state, [&] { measure(state, bench, row); });
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->Iterations(rounds)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void add(const Bench& bench, FreeRow row) {
  const std::string name = row.name;
  const auto run = [bench, row = std::move(row)](benchmark::State& state) {
    run_guarded(state, [&] {
      for (auto unused : state) {
        (void)unused;
        for (Line& line : row.run(bench)) all_lines().push_back(std::move(line));
      }
    });
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->Iterations(1)->Unit(benchmark::kMillisecond);
}

const std::vector<Line>& lines() { return all_lines(); }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace threadstore::bench
