#include <unistd.h>

#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/syntax.h"
#include "cli/commands/run_options.h"
#include "cli/output/table.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct CheckpointOptions {
  std::string run;
  std::optional<std::string> name;
  bool list = false;
};

template <class Record>
void print_items(Invocation& call, const std::vector<Record>& records,
                 Json (*record_json)(const Record&)) {
  Json items = Json::array();
  for (const Record& record : records) items.push_back(record_json(record));
  call.print({{"items", std::move(items)}, {"next", nullptr}});
}

void list_checkpoints(Invocation& call, const std::vector<RunCheckpoint>& checkpoints) {
  if (call.json()) return print_items(call, checkpoints, run_checkpoint_json);
  Table table({"SEQ", "SAVED", "TURN", "VERSION", "NAME"});
  for (const RunCheckpoint& checkpoint : checkpoints) {
    table.add({{std::to_string(checkpoint.sequence), Tone::mark},
               {short_local_time(checkpoint.created_at / 1000, call.now())},
               {std::to_string(checkpoint.turn)},
               {std::to_string(checkpoint.schema_version)},
               {checkpoint.name.value_or("-"), Tone::strong}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

void print_differences(Invocation& call, const Run& run, const RunDifferences& differences,
                       const char* well, bool mended) {
  if (call.json()) {
    call.print({{"run_id", run.id.str()},
                {"ok", mended || differences.ok()},
                {"differences", differences.what}});
  } else if (differences.ok()) {
    call.out() << well << '\n';
  } else {
    for (const std::string& what : differences.what) {
      call.out() << (mended ? "repaired: " : "") << escape_for_terminal(what) << '\n';
    }
  }
}

}  // namespace

Action declare_run_checkpoint(Syntax& syntax) {
  auto options = std::make_shared<CheckpointOptions>();
  add_run(syntax, options->run);
  syntax.add_option("name", options->name, "The named one (default: the newest)")
      ->type_name("NAME");
  syntax.add_flag("--list", options->list, "List them instead of printing one's state");
  return [options](Invocation& call) {
    const Run run = resolve_run(call, options->run);
    const RunCheckpoints checkpoints = runs_of(call).checkpoints();
    if (options->list) return list_checkpoints(call, checkpoints.list(run.id));
    const auto found =
        options->name ? checkpoints.find(run.id, *options->name) : checkpoints.latest(run.id);
    if (!found) {
      throw Error(ErrorCode::not_found, "run " + run.id.str() + " has no such checkpoint");
    }
    if (call.json()) return call.print(run_checkpoint_json(*found));
    call.out() << escape_for_terminal(found->state, Lines::multiple) << '\n';
  };
}

Action declare_run_artifacts(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_run(syntax, *given);
  return [given](Invocation& call) {
    const auto artifacts = runs_of(call).artifacts().list(resolve_run(call, *given).id);
    if (call.json()) return print_items(call, artifacts, artifact_json);
    Table table({"SEQ", "BYTES", "SHA-256", "PATH"});
    for (const RunArtifact& artifact : artifacts) {
      table.add({{std::to_string(artifact.sequence), Tone::mark},
                 {std::to_string(artifact.size)},
                 {artifact.sha256.substr(0, 12), Tone::faint},
                 {artifact.relative_path, Tone::strong}});
    }
    table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
  };
}

Action declare_run_verify(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_run(syntax, *given);
  return [given](Invocation& call) {
    const Run run = resolve_run(call, *given);
    const auto differences = runs_of(call).projections().verify(run.id);
    print_differences(call, run, differences, "the run agrees with its log", false);
    if (!differences.ok()) call.set_exit_code(exit_damaged);
  };
}

Action declare_run_rebuild(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_run(syntax, *given);
  return [given](Invocation& call) {
    const Run run = resolve_run(call, *given);
    print_differences(call, run, runs_of(call).projections().rebuild(run.id),
                      "nothing to repair: the run agrees with its log", true);
  };
}

}  // namespace threadstore::cli
