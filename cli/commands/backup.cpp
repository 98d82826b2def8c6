#include <functional>
#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/check_json.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string file;
  bool force = false;
};

/// The copy is good, what it copies is not: said, and seen in the exit code.
void warn_about(Invocation& call, const std::vector<Check>& findings) {
  for (const Check& check : findings) call.warn(check.name + ": " + check.detail);
  if (!findings.empty()) call.set_exit_code(exit_damaged);
}

std::shared_ptr<Options> declare_options(Syntax& syntax, const std::string& force) {
  auto options = std::make_shared<Options>();
  syntax.add_option("file", options->file, "The backup")->type_name("FILE")->required();
  syntax.add_flag("--force", options->force, force);
  return options;
}

}  // namespace

Action declare_backup(Syntax& syntax) {
  auto options = declare_options(syntax, "Replace FILE when it exists");
  return [options](Invocation& call) {
    const StateStore& store = call.store();
    if (call.store_missing()) {
      throw Error(ErrorCode::not_found, "there is no store at " + call.database().string());
    }
    Backup done;
    {
      ProgressBar progress("backing up", call.options().quiet);
      done = store.backup(options->file,
                          {.overwrite = options->force, .progress = std::ref(progress)});
    }
    warn_about(call, done.findings);
    if (call.json()) {
      return call.print({{"file", done.file.string()},
                         {"bytes", done.bytes},
                         {"sha256", done.sha256},
                         {"findings", checks_json(done.findings)}});
    }
    call.out() << "backed up to " << escape_for_terminal(done.file.string()) << ", " << done.bytes
               << " bytes, sha256 " << done.sha256 << '\n';
  };
}

Action declare_restore(Syntax& syntax) {
  auto options =
      declare_options(syntax, "Also restore a backup in which single records are damaged");
  return [options](Invocation& call) {
    Restored done;
    {
      ProgressBar progress("restoring", call.options().quiet);
      done = restore(options->file, call.database(),
                     {.accept_findings = options->force,
                      .deadline = call.options().deadline(),
                      .progress = std::ref(progress)});
    }
    warn_about(call, done.findings);
    if (call.json()) {
      return call.print({{"database", done.database.string()},
                         {"kept", done.kept ? Json(done.kept->string()) : Json(nullptr)},
                         {"findings", checks_json(done.findings)}});
    }
    call.out() << "restored " << escape_for_terminal(done.database.string()) << '\n';
    if (done.kept) {
      call.out() << "the store that was there is now " << escape_for_terminal(done.kept->string())
                 << '\n';
    }
  };
}

}  // namespace threadstore::cli
