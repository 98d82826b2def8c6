#include "tests/state/runs/run_fixture.h"

namespace threadstore::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RunAuditTest : public RunFileFixture {
 protected:
  RunAudit audit() const { return runs_.audit(); }
  /// As reading gives it back.
  template <class Event>
  Event at(Event event, std::int64_t sequence) const {
    event.sequence = sequence;
    event.at = now_;
    return event;
  }

  RunId run_ = start().id;
};

TEST_F(RunAuditTest, ARefusalKeepsItsRuleAndLayer) {
  const auto event = PolicyEvent::refused(3, "write", "/etc/passwd", "deny-system", "workspace");
  EXPECT_EQ(audit().record(run_, event), 2);
  EXPECT_THAT(audit().policy(run_), ElementsAre(at(event, 2)));
  EXPECT_EQ(newest_payload(run_).dump(),
            R"({"act":"write","layer":"workspace","rule":"deny-system","step":3,)"
            R"("target":"/etc/passwd"})");
}

TEST_F(RunAuditTest, DecisionsKeepTheirOrderTheirSourceAndWhatWasDone) {
  const auto altered = PolicyEvent::decided(1, "exec", "rm -r x", "approve", "ann", "rm -r x/tmp");
  const auto remembered = PolicyEvent::decided(1, "exec", "make", "approve", "remembered");
  const auto denied = PolicyEvent::decided(2, "read", "key", "deny", "bob");
  audit().record(run_, altered);
  audit().record(run_, remembered);
  audit().record(run_, denied);
  EXPECT_THAT(audit().policy(run_), ElementsAre(at(altered, 2), at(remembered, 3), at(denied, 4)));
  EXPECT_THAT(audit().policy(run_, 2, 1), ElementsAre(at(remembered, 3)));
}

TEST_F(RunAuditTest, DelegationIsToldByTheParentAndDrawsByTheChild) {
  const RunId first = runs_.tree().spawn({.parent = run_, .step = 1, .goal = "left"}).child.id;
  const RunId second =
      runs_.tree().spawn({.parent = run_, .step = 1, .ordinal = 1, .goal = "right"}).child.id;
  audit().record(run_, DelegationEvent::refused(2, "max_agents"));
  audit().record(first, DelegationEvent::drawn(1, 30, 70));
  EXPECT_THAT(audit().delegation(run_),
              ElementsAre(at(DelegationEvent::spawned(1, first, "left"), 2),
                          at(DelegationEvent::spawned(1, second, "right"), 3),
                          at(DelegationEvent::refused(2, "max_agents"), 4)));
  EXPECT_THAT(audit().delegation(first), ElementsAre(at(DelegationEvent::drawn(1, 30, 70), 2)));
  runs_.finish(first, RunEnd::completed("done"));
  const DelegationEvent finished = audit().delegation(run_, 4).at(0);
  EXPECT_EQ(finished.kind, DelegationKind::spawn_finished);
  EXPECT_EQ(finished.child_run_id, first);
  EXPECT_EQ(finished.detail, "completed");
}

TEST_F(RunAuditTest, TheSandboxTellsWhatItDid) {
  std::vector<SandboxEvent> events{
      {.step = 1, .kind = SandboxKind::create, .backend = "bwrap"},
      {.step = 1, .kind = SandboxKind::exec, .backend = "bwrap", .detail = "make test"},
      {.step = 1, .kind = SandboxKind::cap_hit, .detail = "memory"},
      {.step = 1, .kind = SandboxKind::net_deny},
      {.step = 1, .kind = SandboxKind::destroy}};
  std::int64_t sequence = 1;
  for (SandboxEvent& event : events) {
    EXPECT_EQ(audit().record(run_, event), ++sequence);
    event = at(event, sequence);
  }
  EXPECT_EQ(audit().sandbox(run_), events);
  EXPECT_THAT(types(run_),
              ElementsAre("run.started", "sandbox.created", "sandbox.exec", "sandbox.cap_hit",
                          "sandbox.net_denied", "sandbox.destroyed"));
  EXPECT_THAT(audit().policy(run_), IsEmpty());
  EXPECT_THAT(audit().delegation(run_), IsEmpty());
}

TEST_F(RunAuditTest, WhatSaysTooLittleIsRefused) {
  const auto refused = [&](const auto& event) {
    return error_of([&] { audit().record(run_, event); });
  };
  EXPECT_EQ(refused(PolicyEvent::refused(-1, "read", "x")), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(PolicyEvent::refused(1, " ", "x")), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(PolicyEvent{.kind = PolicyKind::decision, .act = "read"}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(DelegationEvent{.kind = DelegationKind::spawn}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(DelegationEvent{.kind = DelegationKind::budget_draw}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(DelegationEvent{.kind = DelegationKind::spawn_finished}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(DelegationEvent::spawned(1, RunId("none"), "x")), ErrorCode::not_found);
  EXPECT_EQ(runs_.get(run_).last_sequence, 1);
  EXPECT_EQ(error_of([&] { audit().policy(RunId("none")); }), ErrorCode::not_found);
  runs_.finish(run_, RunEnd::cancelled());
  EXPECT_EQ(refused(PolicyEvent::refused(1, "read", "x")), ErrorCode::conflict);
}

}  // namespace
}  // namespace threadstore::test
