#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace threadstore::bench {

/// What a figure must reach. The first two compare with the raw SQLite program of the same round.
struct Goal {
  enum class Kind {
    speed_at_least,  ///< raw time / our time
    time_at_most,    ///< our time / raw time
    value_at_most,   ///< the figure itself, in its unit
    value_at_least,
    none,  ///< shown, not judged
  };
  Kind kind = Kind::none;
  double limit = 0;

  static Goal speed(double limit) { return {Kind::speed_at_least, limit}; }
  static Goal time(double limit) { return {Kind::time_at_most, limit}; }
  static Goal at_most(double limit) { return {Kind::value_at_most, limit}; }
  static Goal at_least(double limit) { return {Kind::value_at_least, limit}; }
};

/// One line of the table.
struct Line {
  std::string work;
  std::string unit = "us";  ///< us: shown as microseconds or milliseconds, as it suits
  double ours = 0;
  std::optional<double> raw{};
  std::optional<double> ratio{};
  Goal goal{};
  double canary = 0;  ///< median of write + fdatasync in the same rounds, microseconds

  bool met() const;
};

/// What both sides do in one round: `operations` each. Without `raw` there is nothing to compare.
struct Sides {
  std::function<void()> ours;
  std::function<void()> raw{};
  double operations = 1;
};

/// How much is done.
struct Scale {
  enum class Kind { once, quick, full };
  Kind kind = Kind::full;

  /// A size that CTest, `--quick` and the full run use.
  template <class T>
  T pick(T once, T quick, T full) const {
    return kind == Kind::once ? once : kind == Kind::quick ? quick : full;
  }
};

/// Where and how much: what every row is prepared with.
struct Bench {
  Scale scale;
  std::filesystem::path disk;   ///< an empty directory on a disk
  std::filesystem::path tmpfs;  ///< one in memory; empty when there is none
  std::filesystem::path self;   ///< this program, for worker processes

  /// A new directory.
  std::filesystem::path scratch(const std::filesystem::path& place) const;
  std::filesystem::path scratch() const { return scratch(disk); }
};

/// Both sides of one figure, measured in interleaved rounds of the same benchmark.
struct PairedRow {
  std::string name;  ///< "append/disk"; the benchmark's name
  std::string work;  ///< what the table says
  Goal goal;
  int rounds = 20;  ///< of a full run
  std::function<Sides(const Bench&)> prepare;
};
void add(const Bench& bench, PairedRow row);

/// A row that measures by itself, several processes or memory, and may give several lines.
struct FreeRow {
  std::string name;
  std::function<std::vector<Line>(const Bench&)> run;
};
void add(const Bench& bench, FreeRow row);

/// The lines so far, in the order of the rows.
const std::vector<Line>& lines();

double median(std::vector<double> values);

/// Seconds that `work` takes.
double seconds_of(const std::function<void()>& work);

// One function per file of rows; each adds what its file is about.
void add_append_rows(const Bench& bench);
void add_thread_rows(const Bench& bench);
void add_branch_rows(const Bench& bench);
void add_list_rows(const Bench& bench);
void add_record_rows(const Bench& bench);
void add_step_rows(const Bench& bench);
void add_index_rows(const Bench& bench);
void add_process_rows(const Bench& bench);
void add_start_rows(const Bench& bench);
void add_memory_rows(const Bench& bench);

}  // namespace threadstore::bench
