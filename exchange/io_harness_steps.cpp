#include <algorithm>

#include "exchange/io_harness_lists.h"

// The steps of a run, and the marks of its progress.
namespace threadstore::exchange {
namespace {

using Column = ForeignTable::Column;

const std::vector<Column> kSteps{
    {"id"},           {"run_id"},          {"step"},       {"decision"}, {"result"},
    {"prompt", "''"}, {"tool_call", "''"}, {"tokens", "0"}};
const std::vector<Column> kMarks{{"id"}, {"run_id"}, {"step"}, {"kind"}, {"detail"}};
}  // namespace

void IoHarnessLists::note_step_columns() {
  steps_table_.note_others(kSteps, job_);
  marks_table_.note_others(kMarks, job_);
}

void IoHarnessLists::find_steps() {
  session_.each("SELECT run_id, id, step FROM steps ORDER BY id", {}, [&](const db::Row& row) {
    steps_[row.integer(0)].push_back({row.integer(1), step_of(row, 2)});
  });
  for (const auto& [run, rows] : steps_) note_orphans("steps", run, rows.size());
}

std::set<std::int64_t> IoHarnessLists::add_marks(std::int64_t run, ForeignTrace& trace) {
  std::set<std::int64_t> committed;
  each(marks_table_.select(kMarks), marks_, run, [&](const db::Row& row) {
    const std::string kind = row.text(3);
    if (kind == "checkpoint") {
      committed.insert(step_of(row, 2));
    } else if (kind == "resume") {
      trace.resumes.push_back(
          {.step = step_of(row, 2),
           .detail = job_.text(place_of(run, "checkpoint event", row.integer(0)), row.view(4))});
    } else if (kind != "skipped") {  // those follow from the resume before them
      job_.note(place_of(run, "checkpoint event", row.integer(0)),
                "its kind '" + to_valid_utf8(kind) + "' is not known; it was left out");
    }
  });
  return committed;
}

/// Only the last attempt at a step is committed. A run that began before there were commits went
/// on behind its last step, whichever it was; its last attempt failed when it gave up.
void IoHarnessLists::add_steps(std::int64_t run, ForeignTrace& trace,
                               const std::optional<std::set<std::int64_t>>& committed) {
  const auto found = steps_.find(run);
  if (found == steps_.end()) return;
  std::unordered_map<std::int64_t, std::int64_t> last_row;
  std::int64_t last_step = 0;
  for (const StepRow& row : found->second) {
    last_row[row.step] = row.id;
    last_step = std::max(last_step, row.step);
  }
  const bool gave_up = trace.end && trace.end->reason == RunReason::model_error;
  for (const StepRow& row : found->second) {
    const bool counts =
        committed ? committed->count(row.step) != 0 : !gave_up || row.step != last_step;
    trace.steps.push_back(
        {.step = row.step, .committed = counts && last_row[row.step] == row.id, .row = row.id});
  }
  trace.load = [this, run](const ForeignTrace::Step& step) { return load_step(run, step); };
}

NewStep IoHarnessLists::load_step(std::int64_t run, const ForeignTrace::Step& step) {
  NewStep loaded{.step = step.step};
  session_.each(steps_table_.select(kSteps) + " WHERE id = ?", {step.row}, [&](const db::Row& row) {
    const std::string where = place_of(run, "step row", step.row);
    loaded.decision = job_.text(where, row.view(3));
    loaded.result = job_.text(where, row.view(4));
    loaded.prompt = job_.text(where, row.view(5));
    loaded.tool_call = job_.text(where, row.view(6));
    loaded.tokens = row.integer(7);
    if (loaded.tokens < 0) {
      job_.note(where, "its tokens are negative; they count as none");
      loaded.tokens = 0;
    }
  });
  return loaded;
}

}  // namespace threadstore::exchange
