#include "tests/crash/store_script.h"

#include <algorithm>

namespace threadstore::test {

ScriptWorld::ScriptWorld(std::filesystem::path database, std::uint64_t seed)
    : database_(std::move(database)), random_(seed) {}

OpenOptions ScriptWorld::options() const {
  return {.deadline = std::chrono::milliseconds(2000), .clock = clock.clock()};
}

void ScriptWorld::reopen() {
  close();
  store_.emplace(StateStore::open(database_, options()));
}

std::string ScriptWorld::text(const std::string& kind) {
  const std::string name = word(kind);
  return number() % 8 == 0 ? name + std::string(number() % 20'000, 'x') : name;
}

std::optional<RunId> ScriptWorld::active_run() {
  const auto active = store().runs("/w").list({.lifecycle = RunLifecycle::active}).items;
  return active.empty() ? std::nullopt : std::optional(pick(active).id);
}

std::optional<ThreadId> ScriptWorld::thread_with_goal() {
  const auto goals = store().goals().list().items;
  return goals.empty() ? std::nullopt : std::optional(pick(goals).thread_id);
}

std::vector<ScriptStep> all_steps() {
  std::vector<ScriptStep> all;
  for (const auto& group :
       {thread_steps(), message_steps(), record_steps(), run_steps(), upkeep_steps()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

std::vector<ScriptStep> random_script(std::uint64_t seed, std::size_t length) {
  std::mt19937_64 random(seed);
  const std::vector<ScriptStep> all = all_steps();
  std::vector<ScriptStep> middle = all;
  while (middle.size() < length) middle.push_back(all.at(random() % all.size()));
  std::shuffle(middle.begin(), middle.end(), random);

  std::vector<ScriptStep> script{{"open", [](ScriptWorld& world) { world.reopen(); }}};
  const auto make = [](ScriptWorld& world) {
    world.threads.push_back(
        world.store().threads().create({.name = world.word("first"), .cwd = "/"}).thread.id);
  };
  for (int i = 0; i < 3; ++i) script.push_back({"create the first", make});
  script.insert(script.end(), middle.begin(), middle.end());
  return script;
}

}  // namespace threadstore::test
