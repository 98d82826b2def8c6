#include "state/db/private_copy.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 3;

fs::path wal_of(const fs::path& database) { return database.string() + "-wal"; }

// Runs cp(1) without its messages. Whether it did its work is seen from the files.
void run_cp(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) base::throw_io("start", argv[0], failure);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool same_size(const fs::path& original, const fs::path& copy) {
  const auto first = base::file_status(original);
  const auto second = base::file_status(copy);
  return first ? second && first->size == second->size : !second;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "threadstore-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) base::throw_io("make a directory like", name, errno);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

PrivateCopy::PrivateCopy(const fs::path& database)
    : file_(directory_.path() / database.filename()) {
  const fs::path wal = wal_of(database);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto before = std::pair(base::file_status(database), base::file_status(wal));
    fs::remove(wal_of(file_));
    std::vector<std::string> arguments{"cp", "--", database.string()};
    if (before.second) arguments.push_back(wal.string());
    arguments.push_back(directory_.path().string());
    run_cp(std::move(arguments));
    const auto after = std::pair(base::file_status(database), base::file_status(wal));
    if (before != after) continue;
    if (!before.first || !same_size(database, file_) || !same_size(wal, wal_of(file_))) {
      throw Error(IoReason::other, "cannot copy " + database.string() + " to " +
                                       directory_.path().string() +
                                       " in order to read it; is it readable, and is there space? "
                                       "TMPDIR names another place");
    }
    ::chmod(file_.c_str(), 0600);
    ::chmod(wal_of(file_).c_str(), 0600);
    return;
  }
  throw Error(ErrorCode::busy, "cannot copy " + database.string() +
                                   ": another program keeps writing to it; try again");
}

}  // namespace threadstore::db
