#include "threadstore/export.h"

#include <memory>

#include "cli/app/choices.h"
#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/counted.h"
#include "cli/resolve/message_ref.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string thread;
  std::string format = "markdown";
  std::string output;
  std::string all;
  std::string leaf;
  bool all_branches = false;
  bool redact = false;
  bool force = false;
};

ExportFormat format_of(const std::string& word) {
  if (word == "md") return ExportFormat::markdown;
  return from_word<ExportFormat>(word).value_or(ExportFormat::markdown);
}

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

void check(const Options& options) {
  if (options.thread.empty() == options.all.empty()) {
    refuse("say which thread to export, or --all DIR for every thread");
  }
  if (!options.all.empty() && !(options.output.empty() && options.leaf.empty())) {
    refuse("--output and --leaf are for one thread; --all DIR names its files itself");
  }
  if (options.all_branches && format_of(options.format) == ExportFormat::codex) {
    refuse("a Codex rollout holds one branch: choose it with --leaf MESSAGE");
  }
}

Json exported_json(const Exported& done, const std::string& format) {
  return {{"thread_id", done.thread_id.str()},
          {"format", format},
          {"file", done.file.empty() ? Json(nullptr) : Json(done.file.string())},
          {"messages", done.messages},
          {"redacted", done.redacted},
          {"damaged", done.damaged}};
}

void tell_findings(Invocation& call, const Options& options, std::int64_t redacted,
                   std::int64_t damaged) {
  if (options.redact) {
    call.note("replaced " + counted(redacted, "secret") +
              "; only known shapes are recognised: look before you send it on");
  }
  if (damaged > 0) call.warn(counted(damaged, "message") + " are damaged: see threadstore doctor");
}

void export_one(Invocation& call, const Options& options, ExportOptions wanted) {
  const Thread thread = resolve_thread(call, options.thread);
  if (!options.leaf.empty()) wanted.leaf = find_message(call.store(), thread, options.leaf);
  Exported done;
  if (options.output.empty() || options.output == "-") {
    if (call.json()) refuse("--json tells what was written: name the file with --output FILE");
    done = export_thread(call.store(), thread.id, call.out(), wanted);
  } else {
    ProgressBar bar("exporting", call.options().quiet);
    wanted.progress = [&](std::int64_t written, std::int64_t total) { bar(written, total); };
    done = export_thread(call.store(), thread.id, std::filesystem::path(options.output), wanted);
  }
  if (call.json()) {
    call.print(exported_json(done, std::string(to_word(wanted.format))));
  } else if (!done.file.empty()) {
    call.out() << "exported " << counted(done.messages, "message") << " to "
               << escape_for_terminal(done.file.string()) << '\n';
  }
  tell_findings(call, options, done.redacted, done.damaged);
}

void export_every(Invocation& call, const Options& options, ExportOptions wanted) {
  ExportedAll all;
  {
    ProgressBar bar("exporting threads", call.options().quiet);
    wanted.progress = [&](std::int64_t written, std::int64_t total) { bar(written, total); };
    all = export_all(call.store(), options.all, wanted);
  }
  Json items = Json::array();
  Json failed = Json::array();
  std::int64_t messages = 0, redacted = 0, damaged = 0;
  for (const Exported& done : all.threads) {
    items.push_back(exported_json(done, std::string(to_word(wanted.format))));
    messages += done.messages;
    redacted += done.redacted;
    damaged += done.damaged;
  }
  for (const auto& failure : all.failed) {
    call.warn("thread " + failure.thread_id.str() + " was not exported: " + failure.why);
    failed.push_back({{"thread_id", failure.thread_id.str()}, {"why", failure.why}});
    call.set_exit_code(exit_damaged);
  }
  if (call.json()) {
    call.print({{"items", std::move(items)},
                {"failed", std::move(failed)},
                {"messages", messages},
                {"redacted", redacted}});
  } else {
    call.out() << "exported " << counted(static_cast<std::int64_t>(all.threads.size()), "thread")
               << ", " << counted(messages, "message") << ", to "
               << escape_for_terminal(options.all) << '\n';
  }
  tell_findings(call, options, redacted, damaged);
}

}  // namespace

Action declare_export(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("thread", options->thread, "Id, name, part of an id, or @last")
      ->type_name("THREAD");
  syntax.add_option("--format", options->format, "As what to write it")
      ->check(one_of({"markdown", "md", "json", "html", "codex", "pi"}))
      ->type_name("");
  syntax.add_option("-o,--output", options->output, "Where to (default: standard output)")
      ->type_name("FILE");
  syntax.add_option("--all", options->all, "Every thread, archived ones too, a file each")
      ->type_name("DIR");
  syntax.add_option("--leaf", options->leaf, "Follow the branch that ends at this message")
      ->type_name("MESSAGE");
  syntax.add_flag("--all-branches", options->all_branches,
                  "Markdown: the other branches too (json, html and pi always hold them)");
  syntax.add_flag("--redact", options->redact, "Replace what looks like a secret");
  syntax.add_flag("--force", options->force, "Replace files that exist");
  return [options](Invocation& call) {
    check(*options);
    const ExportOptions wanted{.format = format_of(options->format),
                               .all_branches = options->all_branches,
                               .redact = options->redact,
                               .overwrite = options->force};
    if (options->all.empty()) return export_one(call, *options, wanted);
    export_every(call, *options, wanted);
  };
}

}  // namespace threadstore::cli
