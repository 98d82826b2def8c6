#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/child_process.h"

namespace threadstore::bench {

/// What this program does when it was started with --worker, as one of several processes: it says
/// "ready", waits for a line, works, and prints what came out. Returns the exit code.
///
///   append ours|raw FILE THREAD SECONDS   appends; prints latencies
///   open FILE                             opens a store that does not exist yet; prints "ok"
///   memory append FILE COUNT              appends COUNT messages; prints its highest memory
///   memory page FILE                      pages through a branch; prints its highest memory
int run_worker(const std::vector<std::string>& words);

/// Workers that start at the same moment.
class Workers {
 public:
  Workers(const std::filesystem::path& self, const std::vector<std::vector<std::string>>& jobs);
  /// Lets all of them go, waits for all, and gives what each printed. One that failed gives the
  /// line "failed: …" of its own or nothing.
  std::vector<std::string> run();

 private:
  std::vector<std::unique_ptr<test::ChildProcess>> processes_;
};

}  // namespace threadstore::bench
