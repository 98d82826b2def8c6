// threadstore_bench [--once | --quick] [--json FILE] [--dir DIRECTORY] [--benchmark_… of Google
// Benchmark]: measures what docs/performance.md lists and prints the table.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>

#include "tests/bench/canary.h"
#include "tests/bench/row.h"
#include "tests/bench/table.h"
#include "tests/bench/worker.h"

namespace threadstore::bench {
namespace {

constexpr const char* usage =
    "usage: threadstore_bench [--once|--quick] [--json FILE] [--dir DIRECTORY] [--benchmark_...]\n"
    "  --once    every benchmark once, with little data: that they still work\n"
    "  --quick   a shorter run, less exact\n"
    "  --json    also write the table as JSON\n"
    "  --dir     where to put the stores; on the disk to be measured (default: here)\n";

/// A directory of this run, removed at its end.
class RunDirectory {
 public:
  explicit RunDirectory(const std::filesystem::path& parent) {
    std::string name = (parent / "threadstore-bench.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot make a directory in " + parent.string());
    }
    path_ = name;
  }
  ~RunDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Order {
  Scale scale;
  std::filesystem::path directory = std::filesystem::current_path();
  std::optional<std::filesystem::path> json;
};

/// Takes our options out of the arguments; what is left is Google Benchmark's.
Order read_order(std::vector<std::string>& words) {
  Order order;
  std::vector<std::string> left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--once") {
      order.scale.kind = Scale::Kind::once;
    } else if (word == "--quick") {
      order.scale.kind = Scale::Kind::quick;
    } else if ((word == "--json" || word == "--dir") && i + 1 < words.size()) {
      const auto path = std::filesystem::absolute(words[++i]);
      if (word == "--json") order.json = path;
      if (word == "--dir") order.directory = path;
    } else {
      left.push_back(word);
    }
  }
  words = std::move(left);
  return order;
}

/// Says on the error output which row runs now; the table comes at the end.
class ProgressReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      failed_ = failed_ || run.error_occurred;
      std::cerr << run.benchmark_name()
                << (run.error_occurred ? " FAILED: " + run.error_message : std::string()) << '\n';
    }
  }
  bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

void warn_of_a_busy_disk(const Bench& bench) {
  Canary canary(bench.disk);
  std::vector<double> songs;
  for (int i = 0; i < 50; ++i) songs.push_back(canary.sing() * 1e6);
  std::cout << "write + fdatasync of 1 KiB: median " << static_cast<int>(median(songs))
            << " us. Measured on a busy machine, differences below 20 % say nothing.\n\n";
}

int run(std::vector<std::string> words, char* program) {
  const Order order = read_order(words);
  const RunDirectory disk(order.directory);
  std::optional<RunDirectory> tmpfs;
  if (::access("/dev/shm", W_OK) == 0) tmpfs.emplace("/dev/shm");
  const Bench bench{.scale = order.scale,
                    .disk = disk.path(),
                    .tmpfs = tmpfs ? tmpfs->path() : std::filesystem::path(),
                    .self = std::filesystem::read_symlink("/proc/self/exe")};
  std::vector<char*> arguments{program};
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) {
    std::cerr << "threadstore_bench: '" << arguments[1] << "' is not understood\n" << usage;
    return 2;
  }
  for (const auto add_rows :
       {add_append_rows, add_thread_rows, add_branch_rows, add_list_rows, add_record_rows,
        add_step_rows, add_index_rows, add_process_rows, add_start_rows, add_memory_rows}) {
    add_rows(bench);
  }
  ProgressReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  warn_of_a_busy_disk(bench);
  print_table(std::cout, lines());
  if (order.json) write_json(*order.json, lines());
  return reporter.failed() || lines().empty() ? 1 : 0;
}

}  // namespace
}  // namespace threadstore::bench

int main(int argc, char** argv) {
  using namespace threadstore::bench;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "--worker") {
    return run_worker({words.begin() + 1, words.end()});
  }
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h")) {
    std::cout << usage;
    return 0;
  }
  try {
    return run(std::move(words), argv[0]);
  } catch (const std::exception& error) {
    std::cerr << "threadstore_bench: " << error.what() << '\n';
    return 1;
  }
}
