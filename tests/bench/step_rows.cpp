// What a harness asks before each of its steps, of a run with 100,000 of them.

#include <memory>

#include "tests/bench/raw_store.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {
namespace {

constexpr int kAtOnce = 1000;  // steps of one transaction of the preparation
constexpr int kAsked = 1000;   // questions of one round

/// One run of so many steps with a tree of runs below it, and the same file for a raw program.
struct Stepped {
  StateStore store;
  RawStore raw;
  RunId root;

  static std::shared_ptr<Stepped> make(const Bench& bench, std::int64_t steps) {
    const auto directory = bench.scratch();
    const auto file = directory / "state.db";
    RunId root;
    {
      const StateStore store = StateStore::open(file);
      Runs runs = store.runs("/bench");
      root = runs.trace().start_run({.goal = "all of it"});
      const RunId child = runs.trace().start_child_run(root, {.goal = "a part"});
      for (std::int64_t step = 1; step <= steps; step += kAtOnce) {
        store.transaction([&] {
          for (std::int64_t i = step; i < step + kAtOnce && i <= steps; ++i) {
            runs.steps().commit(i % 10 == 0 ? child : root, {.step = i,
                                                             .decision = "run the tests",
                                                             .prompt = std::string(500, 'p'),
                                                             .tokens = 1 + i % 9});
          }
        });
      }
    }
    const auto copy = bench.scratch();
    copy_store(directory, copy);
    return std::make_shared<Stepped>(
        Stepped{StateStore::open(file), RawStore(copy / "state.db"), root});
  }
};

struct Question {
  const char* name;
  const char* words;
  double limit;  ///< microseconds
  std::int64_t (RunSteps::*ask)(const RunId&) const;
  const char* sql;
};

constexpr Question kQuestions[]{
    {"last", "last step of a run of ", 20, &RunSteps::last,
     "SELECT coalesce(max(step), 0) FROM run_steps WHERE run_id = ?"},
    {"tokens_tree", "tokens of a tree of ", 100, &RunSteps::spent_tokens_tree,
     "SELECT tree_step_tokens FROM runs WHERE id = ?"},
};

Sides ask(const std::shared_ptr<Stepped>& stepped, const Question& question) {
  sqlite3_stmt* statement = stepped->raw.prepare(question.sql);
  return {.ours =
              [stepped, question] {
                const RunSteps steps = stepped->store.runs("/bench").steps();
                for (int i = 0; i < kAsked; ++i) (steps.*question.ask)(stepped->root);
              },
          .raw =
              [stepped, statement] {
                for (int i = 0; i < kAsked; ++i) {
                  std::int64_t answer = 0;
                  bind_text(statement, 1, stepped->root.str());
                  stepped->raw.run(
                      statement, [&](sqlite3_stmt* row) { answer = sqlite3_column_int64(row, 0); });
                }
              },
          .operations = kAsked};
}

}  // namespace

void add_step_rows(const Bench& bench) {
  const std::int64_t steps = bench.scale.pick<std::int64_t>(100, 10'000, 100'000);
  const auto shared = std::make_shared<std::shared_ptr<Stepped>>();
  for (const Question& question : kQuestions) {
    add(bench, PairedRow{.name = std::string("run_step/") + question.name,
                         .work = question.words + std::to_string(steps) + " steps",
                         .goal = Goal::at_most(question.limit),
                         .rounds = 30,
                         .prepare = [shared, question, steps](const Bench& b) {
                           if (!*shared) *shared = Stepped::make(b, steps);
                           return ask(*shared, question);
                         }});
  }
}

}  // namespace threadstore::bench
