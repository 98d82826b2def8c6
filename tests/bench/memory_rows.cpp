// The highest resident memory of a process that appends, and of one that pages through a long
// branch.

#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"
#include "tests/bench/worker.h"

namespace threadstore::bench {
namespace {

double mebibytes(const Bench& bench, const std::vector<std::string>& job) {
  const std::string answer = Workers(bench.self, {job}).run().front();
  if (answer.empty() || answer.starts_with("failed")) {
    throw std::runtime_error("a worker failed: " + answer);
  }
  return std::stod(answer) / 1024;
}

std::vector<Line> memory_lines(const Bench& bench) {
  const std::int64_t appends = bench.scale.pick(10, 2000, 20'000);
  const std::int64_t depth = bench.scale.pick(100, 20'000, 100'000);
  const auto small = bench.scratch();
  make_store(small, {.threads = 1});
  const auto deep = bench.scratch();
  make_store(deep, {.threads = 1, .messages = depth});
  const auto file = [](const std::filesystem::path& directory) {
    return (directory / "state.db").string();
  };
  return {
      {.work = "resident memory of " + std::to_string(appends) + " appends",
       .unit = "MiB",
       .ours = mebibytes(bench, {"memory", "append", file(small), std::to_string(appends)}),
       .goal = Goal::at_most(12)},
      {.work = "resident memory of paging through " + std::to_string(depth) + " messages",
       .unit = "MiB",
       .ours = mebibytes(bench, {"memory", "page", file(deep)}),
       .goal = Goal::at_most(20)},
  };
}

}  // namespace

void add_memory_rows(const Bench& bench) {
  add(bench, FreeRow{.name = "memory", .run = memory_lines});
}

}  // namespace threadstore::bench
