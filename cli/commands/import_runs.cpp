#include "threadstore/import_runs.h"

#include <array>
#include <memory>

#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/counted.h"
#include "cli/resolve/directory.h"
#include "cli/terminal/progress.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string file;
  bool dry_run = false;
};

struct Count {
  const char* name;
  const char* noun;
  std::int64_t ImportedRuns::*value;
};

constexpr Count kCounts[]{
    {"runs", "run", &ImportedRuns::runs},
    {"grown", "grown run", &ImportedRuns::grown},
    {"events", "event", &ImportedRuns::events},
    {"steps", "step", &ImportedRuns::steps},
    {"requests", "request", &ImportedRuns::requests},
    {"spawns", "spawn", &ImportedRuns::spawns},
    {"calls", "call", &ImportedRuns::calls},
    {"approvals", "approval", &ImportedRuns::approvals},
    {"artifacts", "artifact", &ImportedRuns::artifacts},
    {"checkpoints", "checkpoint", &ImportedRuns::checkpoints},
    {"suspensions", "suspension", &ImportedRuns::suspensions},
};

Json report_json(const ImportRunsReport& report, bool dry_run) {
  Json imported = Json::object();
  for (const Count& count : kCounts) imported[count.name] = report.imported.*count.value;
  Json rest = Json::array();
  for (const NotUnderstood& one : report.not_understood) {
    rest.push_back({{"where", one.where}, {"why", one.why}});
  }
  return {{"source", report.source.string()},
          {"kind", to_word(report.kind)},
          {"release", report.release.empty() ? Json() : Json(report.release)},
          {"fingerprint", report.fingerprint},
          {"dry_run", dry_run},
          {"imported", std::move(imported)},
          {"already_present", report.already_present},
          {"not_understood", std::move(rest)},
          {"not_understood_total", report.not_understood_total}};
}

void print_report(Invocation& call, const ImportRunsReport& report, bool dry_run) {
  for (const NotUnderstood& one : report.not_understood) call.warn(one.where + ": " + one.why);
  const auto listed = static_cast<std::int64_t>(report.not_understood.size());
  if (report.not_understood_total > listed) {
    call.warn("and " + std::to_string(report.not_understood_total - listed) + " more");
  }
  call.out() << (dry_run ? "would import " : "imported ") << counted(report.imported.runs, "run")
             << " from " << to_word(report.kind);
  if (!report.release.empty()) call.out() << ' ' << report.release;
  const char* between = ": ";
  for (const Count& count : kCounts) {
    const std::int64_t value = report.imported.*count.value;
    if (value == 0 || count.value == &ImportedRuns::runs) continue;
    call.out() << between << counted(value, count.noun);
    between = ", ";
  }
  call.out() << '\n';
  if (report.already_present > 0) {
    call.out() << counted(report.already_present, "run") << " already present\n";
  }
}

void import_file(Invocation& call, const Options& options) {
  const std::string& workspace = call.options().workspace;
  ImportRunsReport report;
  {
    ProgressBar bar("importing", call.options().quiet);
    const StateStore& store = options.dry_run ? call.store() : call.open_for_writing();
    report = import_runs(store, options.file,
                         {.workspace = workspace.empty() ? current_directory() : workspace,
                          .dry_run = options.dry_run,
                          .progress = [&](std::int64_t done, std::int64_t total) {
                            bar("importing " + std::to_string(done) + "/" + counted(total, "run"),
                                done, total);
                          }});
  }
  if (call.json()) return call.print(report_json(report, options.dry_run));
  print_report(call, report, options.dry_run);
}

Action declare_import_runs(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax
      .add_option("file", options->file,
                  "An io-harness runs.db (releases 0.1 to 0.7) or a context-harness database; only "
                  "read")
      ->type_name("FILE")
      ->required();
  syntax.add_flag("--dry-run", options->dry_run, "Say what would come; write nothing");
  return [options](Invocation& call) { import_file(call, *options); };
}

constexpr std::array kVerbs{
    verb("runs", Access::reading, declare_import_runs, "Take in the runs of another run store",
         "import runs ~/.io-harness/runs.db --dry-run"),
};

}  // namespace

std::span<const Command> import_verbs() { return kVerbs; }

}  // namespace threadstore::cli
