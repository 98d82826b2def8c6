#pragma once

#include <random>
#include <string>
#include <vector>

#include "tests/support/opened_store.h"

namespace threadstore::test {

/// Fills a store with all that a thread can have, the same for the same seed: trees with several
/// roots, forks and forks of forks, of sources that are removed too, checkpoints, goals, tools, and
/// runs with everything in them.
class RandomStore {
 public:
  RandomStore(StateStore store, ManualClock clock, unsigned seed)
      : store_(std::move(store)), clock_(std::move(clock)), random_(seed) {}

  void fill();

 private:
  /// True once in `of` times.
  bool chance(unsigned of) { return random_() % of == 0; }
  template <class Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[random_() % values.size()];
  }
  std::optional<std::string> maybe(const std::string& text) {
    return chance(2) ? std::optional(text) : std::nullopt;
  }

  ThreadId make_thread(int number);
  ThreadId make_fork(int number);
  void add_messages(const ThreadId& thread);
  void add_checkpoint(const ThreadId& thread);
  void add_records(const ThreadId& thread);
  void set_back(const ThreadId& thread);

  RunId add_run(const ThreadId& thread, MessageId trigger);
  void add_call(Runs runs, const RunId& run, int number);
  void add_steps(Runs runs, const RunId& run);
  void add_requests(Runs runs, const RunId& run);
  void add_audit(Runs runs, const RunId& run);
  void add_children(Runs runs, const RunId& run);
  void stop(Runs runs, const RunId& run);

  StateStore store_;
  ManualClock clock_;
  std::mt19937 random_;
  std::vector<ThreadId> threads_;
};

}  // namespace threadstore::test
