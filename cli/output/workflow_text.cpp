#include "cli/output/workflow_text.h"

#include <sstream>

#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

/// One line per record: "  leaf lint  completed  <id>  …".
class TracePrinter {
 public:
  TracePrinter(std::ostream& out, const Style& style) : out_(out), style_(style) {}

  void line(int depth, const std::string& what, const std::string& name, const std::string& state,
            Tone tone, const std::string& id) {
    out_ << std::string(static_cast<std::size_t>(depth) * 2, ' ') << what << ' '
         << style_.paint(Tone::strong, escape_for_terminal(name)) << "  "
         << style_.paint(tone, state) << "  " << style_.paint(Tone::faint, escape_for_terminal(id))
         << '\n';
  }

  void leaf(int depth, const LeafRun& leaf) {
    record(depth, "leaf", leaf.leaf_id + " (" + leaf.task_id + ")", leaf);
  }

  template <class Record>
  void record(int depth, const std::string& what, const std::string& name, const Record& record) {
    line(depth, what, name, std::string(to_word(record.status)), tone_of(record.status),
         record.id.str());
  }

 private:
  std::ostream& out_;
  const Style& style_;
};

std::string verdict(const TeacherCandidate& candidate) {
  std::ostringstream text;
  text << (!candidate.passed ? "open" : *candidate.passed ? "passed" : "not passed");
  if (candidate.score) text << ", score " << *candidate.score;
  return text.str();
}

}  // namespace

Tone tone_of(TraceStatus status) {
  switch (status) {
    case TraceStatus::running:
      return Tone::good;
    case TraceStatus::failed:
      return Tone::bad;
    case TraceStatus::cancelled:
      return Tone::warning;
    case TraceStatus::completed:
    case TraceStatus::skipped:
      return Tone::faint;
  }
  return Tone::plain;
}

void print_trace(std::ostream& out, const WorkflowTrace& trace, const Style& style) {
  TracePrinter print(out, style);
  print.record(0, escape_for_terminal(trace.run.workflow_id) + ":", trace.run.goal, trace.run);
  for (const BranchTrace& branch : trace.branches) {
    print.record(1, "branch", branch.run.branch_id, branch.run);
    for (const LeafRun& leaf : branch.leaves) print.leaf(2, leaf);
  }
  for (const LeafRun& leaf : trace.leaves) print.leaf(1, leaf);
  for (const ControlNodeTrace& node : trace.control_nodes) {
    print.record(1, escape_for_terminal(node.run.kind), node.run.node_id, node.run);
    for (const TeacherCandidate& candidate : node.candidates) {
      const bool passed = candidate.passed.value_or(false);
      print.line(2, "candidate", candidate.candidate_id, verdict(candidate),
                 passed ? Tone::good : Tone::faint, candidate.id.str());
    }
  }
}

}  // namespace threadstore::cli
