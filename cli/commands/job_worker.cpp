#include "cli/commands/job_worker.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "threadstore/error.h"

namespace threadstore::cli {
namespace {

std::vector<std::string> environment_of(const Job& job) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("THREADSTORE_JOB_")) entries.emplace_back(*entry);
  }
  entries.push_back("THREADSTORE_JOB_ID=" + job.id.str());
  entries.push_back("THREADSTORE_JOB_NAME=" + job.name);
  entries.push_back("THREADSTORE_JOB_DETAIL=" + job.detail.value_or(""));
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Runs the command to its end; its exit status, or 128 and the signal that ended it.
int run_shell(const Job& job, const std::string& command, bool quiet_output) {
  std::vector<std::string> words{"sh", "-c", command};
  std::vector<std::string> environment = environment_of(job);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (quiet_output) ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int fault = ::posix_spawn(&child, "/bin/sh", &actions, nullptr, pointers(words).data(),
                                  pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) {
    throw Error(ErrorCode::io, std::string("cannot start sh: ") + std::strerror(fault));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw Error(ErrorCode::io, "cannot wait for the command of the job");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Job work_on(Jobs& jobs, const ClaimedJob& claimed, const std::string& command, bool quiet_output) {
  const JobId& id = claimed.job.id;
  const int status = run_shell(claimed.job, command, quiet_output);
  // The command may have told its progress with `job update`, or ended the job itself.
  const Job now = jobs.get(id);
  if (now.status != JobStatus::running) return now;
  JobPatch end{.status = status == 0 ? JobStatus::completed : JobStatus::failed};
  if (status == 0) end.progress = 100;
  if (status != 0 && now.detail == claimed.job.detail) {
    end.detail = "exit status " + std::to_string(status);
  }
  return jobs.update(id, end, claimed.lease.token());
}

}  // namespace threadstore::cli
