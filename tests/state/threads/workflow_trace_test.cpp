#include "threadstore/workflow_trace.h"

#include "tests/state/threads/records_test.h"

namespace threadstore::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class WorkflowsTest : public RecordsTest {
 protected:
  WorkflowRun start(const std::string& id, const std::string& workflow = "review") {
    return workflows.start(
        WorkflowRun{.id = WorkflowRunId(id), .workflow_id = workflow, .goal = "check the change"});
  }

  std::vector<std::string> listed(const WorkflowFilter& filter = {}) {
    std::vector<std::string> ids;
    for (const WorkflowRun& run : workflows.list(filter).items) ids.push_back(run.id.str());
    return ids;
  }

  Workflows workflows = store.workflows();
};

TEST_F(WorkflowsTest, AWholeRunReadsBackAsATree) {
  WorkflowTrace expected;
  expected.run = workflows.start(WorkflowRun{.id = WorkflowRunId("w"),
                                             .workflow_id = "review",
                                             .goal = "check",
                                             .input_hash = "h0",
                                             .started_at = 10,
                                             .metadata_json = R"({"z": 1})"});
  const WorkflowRunId run("w");
  BranchRun branch = workflows.start(BranchRun{.id = BranchRunId("b"),
                                               .workflow_run_id = run,
                                               .branch_id = "left",
                                               .node_id = "split",
                                               .started_at = 11});
  LeafRun inside = workflows.start(LeafRun{.id = LeafRunId("l1"),
                                           .workflow_run_id = run,
                                           .branch_run_id = branch.id,
                                           .leaf_id = "lint",
                                           .task_id = "t1",
                                           .input_hash = "h1",
                                           .started_at = 12});
  const LeafRun outside = workflows.start(LeafRun{.id = LeafRunId("l2"),
                                                  .workflow_run_id = run,
                                                  .leaf_id = "sum",
                                                  .task_id = "t2",
                                                  .output_json = "[2]",
                                                  .artifacts_json = R"(["f"])",
                                                  .started_at = 13});
  ControlNodeRun node = workflows.start(ControlNodeRun{.id = ControlNodeRunId("n"),
                                                       .workflow_run_id = run,
                                                       .node_id = "choose",
                                                       .kind = "teacher",
                                                       .started_at = 14});
  TeacherCandidate candidate = workflows.add({.id = TeacherCandidateId("c"),
                                              .workflow_run_id = run,
                                              .control_node_run_id = node.id,
                                              .candidate_id = "left",
                                              .branch_run_id = branch.id,
                                              .created_at = 15});
  inside = workflows.finish(inside.id, {.output_json = R"({"ok":true})", .artifacts_json = "[1]"});
  branch = workflows.finish(branch.id, {.status = TraceStatus::failed, .result_json = "[3]"});
  node = workflows.finish(node.id, {.selected_children_json = R"(["b"])", .result_json = "[4]"});
  candidate = workflows.judge(candidate.id, 0.75, true, R"("good")");
  expected.run = workflows.finish(run, {.status = TraceStatus::cancelled});
  EXPECT_EQ(expected.run.completed_at, seconds);
  EXPECT_EQ(expected.run.metadata_json, R"({"z": 1})");
  EXPECT_EQ(inside.output_json, R"({"ok":true})");
  EXPECT_EQ(candidate.score, 0.75);
  EXPECT_EQ(candidate.passed, true);
  expected.branches = {{branch, {inside}}};
  expected.leaves = {outside};
  expected.control_nodes = {{node, {candidate}}};
  EXPECT_EQ(workflows.trace(run), expected);
}

TEST_F(WorkflowsTest, ARecordIsFinishedOnce) {
  start("w");
  EXPECT_THAT(error_of([&] { workflows.finish(WorkflowRunId("w"), {TraceStatus::running}); }),
              StartsWith("invalid_argument"));
  workflows.finish(WorkflowRunId("w"));
  EXPECT_THAT(error_of([&] { workflows.finish(WorkflowRunId("w")); }),
              AllOf(StartsWith("conflict"), HasSubstr("workflow run w")));
  EXPECT_THAT(error_of([&] { workflows.finish(LeafRunId("none")); }),
              AllOf(StartsWith("not_found"), HasSubstr("leaf run none")));
}

TEST_F(WorkflowsTest, InvalidRecordsAreNotStored) {
  start("w");
  start("v");
  const BranchRunId foreign =
      workflows
          .start(BranchRun{.workflow_run_id = WorkflowRunId("v"), .branch_id = "b", .node_id = "n"})
          .id;
  EXPECT_THAT(error_of([&] { start("w"); }), StartsWith("conflict"));
  EXPECT_THAT(error_of([&] { start("x", ""); }), StartsWith("invalid_argument"));
  LeafRun leaf{.workflow_run_id = WorkflowRunId("w"), .leaf_id = "l", .task_id = "t"};
  leaf.branch_run_id = foreign;
  EXPECT_THAT(error_of([&] { workflows.start(leaf); }),
              AllOf(StartsWith("invalid_argument"), HasSubstr("belongs to workflow run v")));
  leaf.branch_run_id.reset();
  leaf.output_json = "{";
  EXPECT_THAT(error_of([&] { workflows.start(leaf); }), StartsWith("invalid_argument"));
  leaf.output_json = "{}";
  leaf.workflow_run_id = WorkflowRunId("none");
  EXPECT_THAT(error_of([&] { workflows.start(leaf); }), StartsWith("not_found"));
  EXPECT_EQ(other.ask("SELECT count(*) FROM leaf_runs"), "0");
}

TEST_F(WorkflowsTest, ReplayFindsTheCompletedLeafThatFinishedLast) {
  start("w");
  const auto run_leaf = [&](const std::string& id, const std::string& hash, TraceStatus status) {
    workflows.start(LeafRun{.id = LeafRunId(id),
                            .workflow_run_id = WorkflowRunId("w"),
                            .leaf_id = "lint",
                            .task_id = "t",
                            .input_hash = hash});
    ++seconds;
    if (status != TraceStatus::running) workflows.finish(LeafRunId(id), {.status = status});
  };
  run_leaf("z1", "h", TraceStatus::completed);
  run_leaf("a2", "h", TraceStatus::completed);
  run_leaf("b3", "h", TraceStatus::failed);
  run_leaf("b4", "h", TraceStatus::running);
  run_leaf("b5", "other", TraceStatus::completed);
  EXPECT_EQ(workflows.replay(WorkflowRunId("w"), "lint", "h")->id.str(), "a2");
  EXPECT_EQ(workflows.replay(WorkflowRunId("w"), "lint", "none"), std::nullopt);
  EXPECT_EQ(workflows.replay(WorkflowRunId("w"), "else", "h"), std::nullopt);
}

TEST_F(WorkflowsTest, ListsFilterAndPage) {
  for (const char* id : {"a", "b", "c"}) start(id);
  ++seconds;
  start("d", "deploy");
  workflows.finish(WorkflowRunId("b"), {.status = TraceStatus::failed});
  other.run("UPDATE workflow_runs SET status = 'exploded' WHERE id = 'a'");
  EXPECT_EQ(listed(), (std::vector<std::string>{"d", "c", "b", "a"}));
  EXPECT_EQ(listed({.workflow_id = "deploy"}), (std::vector<std::string>{"d"}));
  EXPECT_EQ(listed({.status = TraceStatus::running}), (std::vector<std::string>{"d", "c"}));
  EXPECT_EQ(listed({.status = TraceStatus::failed, .workflow_id = "review"}),
            (std::vector<std::string>{"b", "a"}));
  const auto page = workflows.list({.limit = 2});
  EXPECT_EQ(listed({.limit = 2, .after = page.next}), (std::vector<std::string>{"b", "a"}));
}

TEST_F(WorkflowsTest, RemovalCascadesAndABranchLeavesItsLeaves) {
  start("w");
  const BranchRun branch = workflows.start(
      BranchRun{.workflow_run_id = WorkflowRunId("w"), .branch_id = "b", .node_id = "n"});
  const LeafRun leaf = workflows.start(LeafRun{.workflow_run_id = WorkflowRunId("w"),
                                               .branch_run_id = branch.id,
                                               .leaf_id = "l",
                                               .task_id = "t"});
  other.run("DELETE FROM branch_runs");
  EXPECT_EQ(workflows.trace(WorkflowRunId("w")).leaves.at(0).id, leaf.id);
  EXPECT_TRUE(workflows.remove(WorkflowRunId("w")));
  EXPECT_FALSE(workflows.remove(WorkflowRunId("w")));
  EXPECT_EQ(other.ask("SELECT count(*) FROM leaf_runs"), "0");
  EXPECT_THAT(error_of([&] { workflows.trace(WorkflowRunId("w")); }), StartsWith("not_found"));
}

TEST_F(WorkflowsTest, DamagedJsonNamesItsRecord) {
  start("w");
  other.run("UPDATE workflow_runs SET metadata_json = '{'");
  EXPECT_THAT(error_of([&] { workflows.get(WorkflowRunId("w")); }),
              AllOf(StartsWith("damaged"), HasSubstr("metadata_json of workflow run w")));
}

}  // namespace
}  // namespace threadstore::test
