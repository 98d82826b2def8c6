#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/opened_store.h"
#include "threadstore/state_store.h"

namespace threadstore::test {

/// What the operations of a script work on: the store, a clock that each step moves, and what
/// earlier steps made. All choices come from one random number generator.
class ScriptWorld {
 public:
  ScriptWorld(std::filesystem::path database, std::uint64_t seed);

  StateStore& store() { return *store_; }
  /// Closes the store, which empties the WAL, and opens it again.
  void reopen();
  void close() { leases.clear(), store_.reset(); }
  OpenOptions options() const;
  const std::filesystem::path& database() const { return database_; }

  std::uint64_t number() { return random_(); }
  template <class List>
  auto& pick(List& list) {
    return list.at(random_() % list.size());
  }
  /// A word that no other call gave.
  std::string word(const std::string& kind) { return kind + std::to_string(++words_); }
  /// Mostly short, sometimes some pages long.
  std::string text(const std::string& kind);
  NewMessage message() { return {.role = "user", .content = text("message")}; }

  ThreadId thread() { return pick(threads); }
  std::optional<RunId> active_run();
  std::optional<ThreadId> thread_with_goal();

  ManualClock clock;
  std::vector<ThreadId> threads{};
  std::vector<JobId> jobs{};
  std::vector<RunId> runs{};
  std::vector<Lease> leases{};  ///< of claimed jobs; held to the end

 private:
  std::filesystem::path database_;
  std::mt19937_64 random_;
  std::uint64_t words_ = 0;
  std::optional<StateStore> store_;
};

/// One call of the store's interface: wholly there after a crash, or wholly absent.
struct ScriptStep {
  std::string name;
  std::function<void(ScriptWorld&)> run;
};

std::vector<ScriptStep> thread_steps();
std::vector<ScriptStep> message_steps();
std::vector<ScriptStep> record_steps();
std::vector<ScriptStep> run_steps();
std::vector<ScriptStep> upkeep_steps();

/// Every step that there is.
std::vector<ScriptStep> all_steps();

/// Opens the store, makes something to work on, then at least `length` steps in random order, among
/// them each that there is.
std::vector<ScriptStep> random_script(std::uint64_t seed, std::size_t length);

}  // namespace threadstore::test
