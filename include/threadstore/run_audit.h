#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "threadstore/enum_names.h"
#include "threadstore/ids.h"
#include "threadstore/time.h"

// The audit lists of a run: what its policy refused and who decided, what it delegated and drew,
// what its sandbox did, which steps were committed. Each entry is one event of the run's log, and
// stands nowhere else. Entries hold paths, command lines and rule names, never contents of files
// nor secrets.
namespace threadstore {

namespace state {
struct RunScope;
}

enum class PolicyKind { refusal, decision };

template <>
struct EnumNames<PolicyKind> {
  static constexpr std::array table{
      std::pair{PolicyKind::refusal, std::string_view("refusal")},
      std::pair{PolicyKind::decision, std::string_view("decision")},
  };
};

/// An event `policy.refused` or `policy.decided` {step, act, target, rule, layer, decision, source,
/// performed}; absent fields are left out of the payload.
struct PolicyEvent {
  std::int64_t sequence = 0;  ///< set by reading, like `at`
  UnixMillis at = 0;
  std::int64_t step = 0;
  PolicyKind kind = PolicyKind::refusal;
  std::string act{};  ///< read, write, exec, or another word
  std::string target{};
  std::optional<std::string> rule{};
  std::optional<std::string> layer{};
  std::optional<std::string> decision{};   ///< approve, deny, defer, or another word
  std::optional<std::string> source{};     ///< who decided, or "remembered"
  std::optional<std::string> performed{};  ///< what was done, when somebody changed the target

  static PolicyEvent refused(std::int64_t step, std::string act, std::string target,
                             std::optional<std::string> rule = {},
                             std::optional<std::string> layer = {});
  static PolicyEvent decided(std::int64_t step, std::string act, std::string target,
                             std::string decision, std::string source,
                             std::optional<std::string> performed = {});

  friend bool operator==(const PolicyEvent&, const PolicyEvent&) = default;
};

enum class DelegationKind { spawn, spawn_refused, spawn_finished, budget_draw };

template <>
struct EnumNames<DelegationKind> {
  static constexpr std::array table{
      std::pair{DelegationKind::spawn, std::string_view("spawn")},
      std::pair{DelegationKind::spawn_refused, std::string_view("spawn_refused")},
      std::pair{DelegationKind::spawn_finished, std::string_view("spawn_finished")},
      std::pair{DelegationKind::budget_draw, std::string_view("budget_draw")},
  };
};

/// An event `delegation.started`, `delegation.refused`, `delegation.finished` or `budget.drawn`
/// {step, child_run_id, call_id, detail, tokens, remaining}; absent fields are left out.
struct DelegationEvent {
  std::int64_t sequence = 0;  ///< set by reading, like `at`
  UnixMillis at = 0;
  std::int64_t step = 0;  ///< 0 for what a call delegated
  DelegationKind kind = DelegationKind::spawn;
  std::optional<RunId> child_run_id{};
  std::optional<CallId> call_id{};      ///< the call that delegated
  std::optional<std::string> detail{};  ///< the child's goal, the cap, or the child's outcome
  std::optional<std::int64_t> tokens{};
  std::optional<std::int64_t> remaining{};

  static DelegationEvent spawned(std::int64_t step, RunId child, std::string goal);
  static DelegationEvent refused(std::int64_t step, std::string cap);
  static DelegationEvent drawn(std::int64_t step, std::int64_t tokens, std::int64_t remaining);

  friend bool operator==(const DelegationEvent&, const DelegationEvent&) = default;
};

enum class SandboxKind { create, exec, cap_hit, net_deny, destroy };

template <>
struct EnumNames<SandboxKind> {
  static constexpr std::array table{
      std::pair{SandboxKind::create, std::string_view("create")},
      std::pair{SandboxKind::exec, std::string_view("exec")},
      std::pair{SandboxKind::cap_hit, std::string_view("cap_hit")},
      std::pair{SandboxKind::net_deny, std::string_view("net_deny")},
      std::pair{SandboxKind::destroy, std::string_view("destroy")},
  };
};

/// An event `sandbox.created`, `.exec`, `.cap_hit`, `.net_denied` or `.destroyed` {step, backend,
/// detail}; absent fields are left out.
struct SandboxEvent {
  std::int64_t sequence = 0;  ///< set by reading, like `at`
  UnixMillis at = 0;
  std::int64_t step = 0;
  SandboxKind kind = SandboxKind::create;
  std::optional<std::string> backend{};
  std::optional<std::string> detail{};  ///< the command line, or which cap

  friend bool operator==(const SandboxEvent&, const SandboxEvent&) = default;
};

enum class StepKind { checkpoint, resume, skipped };

template <>
struct EnumNames<StepKind> {
  static constexpr std::array table{
      std::pair{StepKind::checkpoint, std::string_view("checkpoint")},
      std::pair{StepKind::resume, std::string_view("resume")},
      std::pair{StepKind::skipped, std::string_view("skipped")},
  };
};

/// A mark in a run's progress. `checkpoint` is an event `step.committed`, `resume` an event
/// `run.resumed` {from_step, committed, detail}; `skipped`, one for each step that was committed by
/// then, is not stored: reading makes them from the event before them, whose sequence they have.
struct StepEvent {
  std::int64_t sequence = 0;
  UnixMillis at = 0;
  std::int64_t step = 0;  ///< of a resume: the step to drive next
  StepKind kind = StepKind::checkpoint;
  std::optional<std::string> detail{};

  friend bool operator==(const StepEvent&, const StepEvent&) = default;
};

/// The audit lists of the runs of one workspace. A light handle like `Runs`. Writing needs an
/// active run (`conflict`), a step that is not negative and words that are not blank
/// (`invalid_argument`), and returns the event's sequence. Lists are in the order of the log, with
/// sequences above `after`, at most `limit` (1 to 1,000).
class RunAudit {
 public:
  std::int64_t record(const RunId& run, const PolicyEvent& event);
  /// A `spawn` names a child of the run; `spawn_finished` is only written by the store itself.
  std::int64_t record(const RunId& run, const DelegationEvent& event);
  std::int64_t record(const RunId& run, const SandboxEvent& event);

  std::vector<PolicyEvent> policy(const RunId& run, std::int64_t after = 0,
                                  std::size_t limit = 1000) const;
  std::vector<DelegationEvent> delegation(const RunId& run, std::int64_t after = 0,
                                          std::size_t limit = 1000) const;
  std::vector<SandboxEvent> sandbox(const RunId& run, std::int64_t after = 0,
                                    std::size_t limit = 1000) const;
  /// `limit` counts stored events: the skipped marks come on top.
  std::vector<StepEvent> steps(const RunId& run, std::int64_t after = 0,
                               std::size_t limit = 1000) const;

 private:
  friend class Runs;
  friend class RunTrace;
  explicit RunAudit(std::shared_ptr<const state::RunScope> scope) : scope_(std::move(scope)) {}
  std::shared_ptr<const state::RunScope> scope_;
};

}  // namespace threadstore
