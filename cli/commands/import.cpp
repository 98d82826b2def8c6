#include "threadstore/import.h"

#include <memory>
#include <vector>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/counted.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  bool dry_run = false;
};

std::string progress_label(const ImportProgress& progress) {
  return "importing " + std::to_string(progress.files) + "/" +
         counted(progress.files_total, "file") + ", " + counted(progress.messages, "message");
}

std::string place_of(const ImportSkip& skip) {
  return skip.file.string() + (skip.line > 0 ? " line " + std::to_string(skip.line) : "");
}

Json report_json(const ImportReport& report, bool dry_run) {
  Json skipped = Json::array();
  for (const ImportSkip& skip : report.skipped) {
    skipped.push_back({{"file", skip.file.string()},
                       {"line", skip.line > 0 ? Json(skip.line) : Json()},
                       {"why", skip.why}});
  }
  return {{"dry_run", dry_run},
          {"files", report.files},
          {"threads", report.threads},
          {"grown", report.grown},
          {"messages", report.messages},
          {"already_present", report.already_present},
          {"not_histories", report.not_histories},
          {"skipped", std::move(skipped)},
          {"skipped_total", report.skipped_total}};
}

void print_report(Invocation& call, const ImportReport& report, bool dry_run) {
  for (const ImportSkip& skip : report.skipped) {
    const bool named = skip.line == 0 && skip.why.find(skip.file.string()) != std::string::npos;
    call.warn(named ? skip.why : place_of(skip) + ": " + skip.why);
  }
  const auto listed = static_cast<std::int64_t>(report.skipped.size());
  if (report.skipped_total > listed) {
    call.warn("and " + std::to_string(report.skipped_total - listed) + " more");
  }
  call.out() << (dry_run ? "would import " : "imported ") << counted(report.threads, "thread")
             << " and " << counted(report.messages, "message") << " from "
             << counted(report.files, "file");
  if (report.grown > 0) {
    call.out() << "; " << counted(report.grown, "thread") << (dry_run ? " would grow" : " grew");
  }
  call.out() << '\n';
  if (report.already_present > 0) {
    call.out() << counted(report.already_present, "message") << " already present\n";
  }
  if (report.not_histories > 0) {
    call.note(counted(report.not_histories, "other file") + " passed over");
  }
}

void import_paths(Invocation& call, const Options& options) {
  const std::vector<std::filesystem::path> paths(options.paths.begin(), options.paths.end());
  ImportReport report;
  {
    ProgressBar bar("importing", call.options().quiet);
    const StateStore& store = options.dry_run ? call.store() : call.open_for_writing();
    report = import_history(
        store, paths, {.dry_run = options.dry_run, .progress = [&](const ImportProgress& progress) {
                         bar(progress_label(progress), progress.bytes, progress.bytes_total);
                       }});
  }
  if (report.unreadable > 0) call.set_exit_code(exit_io);
  if (call.json()) return call.print(report_json(report, options.dry_run));
  print_report(call, report, options.dry_run);
}

}  // namespace

Action declare_import(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax
      .add_option(
          "path", options->paths,
          "Files or folders: Codex rollouts, pi sessions, Claude Code transcripts, opencode "
          "or LangGraph databases, a state.db; each known by its content")
      ->type_name("PATH")
      ->required();
  syntax.add_flag("--dry-run", options->dry_run, "Say what would come; write nothing");
  return [options](Invocation& call) { import_paths(call, *options); };
}

}  // namespace threadstore::cli
