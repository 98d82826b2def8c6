#include <unistd.h>

#include <array>
#include <memory>

#include "cli/app/choices.h"
#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_worker.h"
#include "cli/commands/paging_options.h"
#include "cli/output/record_json.h"
#include "cli/output/table.h"
#include "cli/resolve/text_argument.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string id, name;
  std::optional<std::string> id_or_all, status, detail, command;
  std::string owner;
  std::optional<int> progress;
  std::optional<std::int64_t> max_attempts;
  PagingOptions paging;
};

void add_id(Syntax& syntax, std::string& id) {
  syntax.add_option("id", id, "The job")->type_name("ID")->required();
}

Option* add_status(Syntax& syntax, std::optional<std::string>& status, const std::string& help) {
  return syntax.add_option("--status", status, help)->check(one_of<JobStatus>())->type_name("");
}

void add_work(Syntax& syntax, Options& options) {
  syntax.add_option("--progress", options.progress, "How far it is, 0 to 100")->type_name("P");
  syntax.add_option("--detail", options.detail, "A remark")->type_name("TEXT");
}

std::optional<JobStatus> status_from(const Options& options) {
  return options.status ? from_word<JobStatus>(*options.status) : std::nullopt;
}

std::string progress_text(const Job& job) {
  return job.progress ? std::to_string(*job.progress) + "%" : "-";
}

std::string shown_status(const Job& job) {
  return job.interrupted ? "interrupted" : std::string(to_word(job.status));
}

void print_jobs(Invocation& call, const std::vector<Job>& jobs) {
  Table table({"ID", "UPDATED", "STATUS", "DONE", "OWNER", "NAME", "DETAIL"});
  for (const Job& job : jobs) {
    table.add({{job.id.str(), Tone::mark},
               {short_local_time(job.updated_at, call.now())},
               {shown_status(job), job.interrupted ? Tone::bad : Tone::plain},
               {progress_text(job)},
               {job.owner.value_or("-")},
               {job.name, Tone::strong},
               {job.detail.value_or("-"), Tone::faint}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

void print_job(Invocation& call, const Job& job) {
  if (call.json()) return call.print(job_json(job));
  print_jobs(call, {job});
}

Action declare_put(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_id(syntax, options->id);
  syntax.add_option("--name", options->name, "What it does")->type_name("N")->required();
  add_status(syntax, options->status, "Where it stands")->required();
  add_work(syntax, *options);
  syntax
      .add_option("--max-attempts", options->max_attempts,
                  "Workers that may die over it before it is given up (default: 3)")
      ->type_name("N");
  return [options](Invocation& call) {
    print_job(call, call.store().jobs().save(
                        {.id = JobId(line_argument(call, options->id, "the id")),
                         .name = line_argument(call, options->name, "the name"),
                         .status = status_from(*options).value_or(JobStatus::queued),
                         .progress = options->progress,
                         .detail = line_argument(call, options->detail, "the detail"),
                         .max_attempts = options->max_attempts}));
  };
}

Action declare_update(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_id(syntax, options->id);
  add_status(syntax, options->status, "Where it stands now");
  add_work(syntax, *options);
  return [options](Invocation& call) {
    JobPatch patch{.status = status_from(*options)};
    if (options->progress) patch.progress = *options->progress;
    if (const auto detail = line_argument(call, options->detail, "the detail")) {
      patch.detail = *detail;
    }
    print_job(call, call.store().jobs().update(JobId(options->id), patch));
  };
}

Action declare_show_job(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_id(syntax, options->id);
  return
      [options](Invocation& call) { print_job(call, call.store().jobs().get(JobId(options->id))); };
}

Action declare_list_jobs(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_status(syntax, options->status, "Only jobs with that stored status");
  add_paging(syntax, options->paging);
  return [options](Invocation& call) {
    const auto page = call.store().jobs().list({.status = status_from(*options),
                                                .limit = options->paging.limit,
                                                .after = options->paging.after});
    if (call.json()) return print_page(call, page, job_json);
    if (page.items.empty()) return call.note("no job matches");
    print_jobs(call, page.items);
    note_next(call, page.next);
  };
}

void say_nothing_queued(Invocation& call) {
  call.set_exit_code(exit_not_found);
  if (call.json()) return call.print(nullptr);
  call.note("no job is queued");
}

Action declare_claim(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  options->owner = "threadstore";
  syntax.add_option("--owner", options->owner, "Who works on it, for people to read")
      ->type_name("O");
  syntax
      .add_option(
          "--exec", options->command,
          "Run CMD with sh while holding the job, then complete it, or fail it by the exit "
          "status. Without this the job stays claimed until `job put`, `update` or `requeue`")
      ->type_name("CMD");
  return [options](Invocation& call) {
    Jobs jobs = call.store().jobs();
    const std::string owner = line_argument(call, options->owner, "the owner");
    std::optional<Job> job;
    if (!options->command) {
      job = jobs.claim_detached(owner);
    } else if (const auto claimed = jobs.claim(owner)) {
      job = work_on(jobs, *claimed, *options->command, call.json());
      if (job->status == JobStatus::failed) call.set_exit_code(exit_failed);
    }
    if (!job) return say_nothing_queued(call);
    print_job(call, *job);
  };
}

Action declare_requeue(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("id", options->id_or_all, "The job (default: every one whose worker died)")
      ->type_name("ID");
  return [options](Invocation& call) {
    Jobs jobs = call.store().jobs();
    if (options->id_or_all) return print_job(call, jobs.requeue(JobId(*options->id_or_all)));
    const Page<Job> page{.items = jobs.requeue_interrupted(), .next = {}};
    if (call.json()) return print_page(call, page, job_json);
    print_jobs(call, page.items);
  };
}

Action declare_delete_job(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_id(syntax, options->id);
  return [options](Invocation& call) {
    if (!call.store().jobs().remove(JobId(options->id))) {
      throw Error(ErrorCode::not_found, "there is no job " + options->id);
    }
    if (call.json()) return call.print({{"id", options->id}});
    call.out() << "deleted " << escape_for_terminal(options->id) << '\n';
  };
}

constexpr std::array kVerbs{
    verb("put", Access::writing, declare_put, "Store a job, or replace it",
         "job put build-17 --name 'build the docs' --status queued"),
    verb("update", Access::writing, declare_update, "Change a job's status, progress or detail",
         "job update build-17 --progress 40"),
    verb("show", Access::reading, declare_show_job, "Show a job", "job show build-17"),
    verb("list", Access::reading, declare_list_jobs, "List jobs, most recently updated first",
         "job list --status running"),
    verb("claim", Access::writing, declare_claim, "Take the oldest queued job",
         "job claim --owner worker-1 --exec 'make docs'"),
    verb("requeue", Access::writing, declare_requeue, "Put running jobs back into the queue",
         "job requeue build-17"),
    verb("delete", Access::writing, declare_delete_job, "Delete a job", "job delete build-17"),
};

}  // namespace

std::span<const Command> job_verbs() { return kVerbs; }

}  // namespace threadstore::cli
