#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "threadstore/state_store.h"

namespace threadstore::test {

/// The code of the error that `action` throws; nothing when it succeeds.
inline std::optional<ErrorCode> error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

/// A store in memory with a clock that stands still until it is moved, and the runs of one
/// workspace.
class RunFixture : public testing::Test {
 protected:
  enum class Where { memory, disk };
  explicit RunFixture(Where where = Where::memory)
      : store_(where == Where::memory ? StateStore::in_memory(options())
                                      : StateStore::open(file_, options())) {}

  using Run = threadstore::Run;  // not testing::Test::Run

  OpenOptions options() {
    return {.clock = [this] { return now_.load(); }};
  }

  Run start(const RunBudgets& budgets = {}) {
    return runs_.create({.agent_name = "coder",
                         .agent_version = "1",
                         .model = "m",
                         .input = "fix it",
                         .budgets = budgets});
  }

  /// A run below a started call of `agent.invoke`.
  Run delegate(const RunId& parent, const std::string& call, const RunBudgets& budgets = {}) {
    runs_.calls().request(parent, {.id = CallId(call), .tool_name = "agent.invoke"});
    runs_.calls().start(parent, CallId(call));
    return runs_.create_child({.parent = parent,
                               .call = CallId(call),
                               .run = {.agent_name = "helper",
                                       .agent_version = "1",
                                       .model = "m",
                                       .input = "part",
                                       .budgets = budgets}});
  }

  /// A call that is started.
  CallId started_call(const RunId& run, const std::string& call, const std::string& tool = "sh") {
    runs_.calls().request(run, {.id = CallId(call), .tool_name = tool});
    runs_.calls().start(run, CallId(call));
    return CallId(call);
  }

  std::vector<std::string> types(const RunId& run) const {
    std::vector<std::string> names;
    for (const RunEvent& event : runs_.log().list(run)) names.push_back(event.event_type);
    return names;
  }

  nlohmann::json payload(const RunId& run, std::int64_t sequence) const {
    return nlohmann::json::parse(runs_.log().list(run, sequence - 1, 1).at(0).payload);
  }
  nlohmann::json newest_payload(const RunId& run) const {
    return payload(run, runs_.get(run).last_sequence);
  }

  /// Every run's tables agree with its log.
  void expect_sound(const RunId& run) const {
    EXPECT_THAT(runs_.projections().verify(run).what, testing::IsEmpty());
  }

  std::atomic<UnixMillis> now_{1'700'000'000'000};
  const TempDir directory_;
  const std::filesystem::path file_ = directory_ / "state.db";
  const StateStore store_;
  Runs runs_ = store_.runs("/work");
};

/// The same on disk, for tests that look at the file or have company.
class RunFileFixture : public RunFixture {
 protected:
  RunFileFixture() : RunFixture(Where::disk) {}
};

}  // namespace threadstore::test
