#include <memory>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/resolve/directory.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/text.h"
#include "threadstore/version.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::optional<std::string> id, name, cwd;
  std::optional<std::string> preview, provider;
  std::optional<std::string> cli_version;
  std::optional<std::string> rollout_path, path, sandbox_policy, approval_mode, memory_mode;
  std::optional<std::string> git_sha, git_branch, git_origin_url;
  std::string source = "interactive";
};

NewThread thread_from(Invocation& call, const Options& options) {
  const auto text = [&](const std::optional<std::string>& given, const std::string& what) {
    return line_argument(call, given, what);
  };
  NewThread thread{
      .name = text(options.name, "the name"),
      .cwd = options.cwd ? real_directory(*options.cwd) : current_directory(),
      .preview = text(options.preview, "the preview").value_or(""),
      .model_provider = text(options.provider, "the provider").value_or(""),
      .cli_version =
          text(options.cli_version, "the program's version").value_or(std::string(version())),
      .source = from_word<SessionSource>(options.source).value_or(SessionSource::unknown),
      .rollout_path = text(options.rollout_path, "the transcript path"),
      .path = text(options.path, "the path"),
      .sandbox_policy = text(options.sandbox_policy, "the sandbox policy"),
      .approval_mode = text(options.approval_mode, "the approval mode"),
      .git_sha = text(options.git_sha, "the commit"),
      .git_branch = text(options.git_branch, "the branch"),
      .git_origin_url = text(options.git_origin_url, "the origin"),
      .memory_mode = text(options.memory_mode, "the memory mode"),
  };
  thread.cwd = valid_text(call, thread.cwd, "the directory");
  if (options.id) thread.id = ThreadId(valid_text(call, *options.id, "the id"));
  return thread;
}

}  // namespace

Action declare_new(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("--name", options->name, "What to call it")->type_name("NAME");
  syntax.add_option("--cwd", options->cwd, "Its directory (default: this one)")->type_name("DIR");
  syntax.add_option("--provider", options->provider, "The model provider")->type_name("P");
  syntax.add_option("--source", options->source, "How it came to be (default: interactive)")
      ->check(one_of<SessionSource>())
      ->type_name("");
  syntax.add_option("--preview", options->preview, "First words, for lists")->type_name("TEXT");
  syntax.add_option("--id", options->id, "Its id (default: a new UUIDv7)")->type_name("ID");
  const auto column = [&](const std::string& name, std::optional<std::string>& value,
                          const std::string& help) {
    syntax.add_option(name, value, help)->type_name("TEXT")->group("Recorded as given");
  };
  column("--cli-version", options->cli_version, "The program that makes it (default: ours)");
  column("--rollout-path", options->rollout_path, "Its transcript file");
  column("--path", options->path, "Its path");
  column("--sandbox-policy", options->sandbox_policy, "Its sandbox policy");
  column("--approval-mode", options->approval_mode, "Its approval mode");
  column("--memory-mode", options->memory_mode, "Its memory mode");
  column("--git-sha", options->git_sha, "The commit it starts at");
  column("--git-branch", options->git_branch, "The branch it starts on");
  column("--git-origin-url", options->git_origin_url, "The repository's origin");
  return [options](Invocation& call) {
    const ThreadChange made = call.store().threads().create(thread_from(call, *options));
    if (call.json()) return call.print({{"id", made.thread.id.str()}});
    call.out() << escape_for_terminal(made.thread.id.str()) << '\n';
  };
}

}  // namespace threadstore::cli
