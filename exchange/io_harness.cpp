#include "exchange/io_harness.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/rfc3339.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "exchange/foreign_ids.h"
#include "exchange/io_harness_lists.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

using Column = ForeignTable::Column;

constexpr std::int64_t kNewestFormat = 7;
constexpr std::size_t kMostWord = 1024;
constexpr int kMostLevels = 64;

const std::vector<Column> kRuns{{"id"},         {"goal"},     {"file"},
                                {"outcome"},    {"provider"}, {"parent_run_id"},
                                {"depth", "0"}, {"status"},   {"started_at"}};

/// What a release added, the newest first.
struct Release {
  const char* number;
  const char* table;
  const char* column;
};
constexpr Release kReleases[]{
    {"0.7", "runs", "started_at"},
    {"0.6", "sandbox_events", "id"},
    {"0.5", "runs", "parent_run_id"},
    {"0.4", "policy_events", "id"},
    {"0.3", "runs", "provider"},
    {"0.2", "steps", "prompt"},
    {"0.1", "runs", "id"},
};

std::string release_of(db::Session& session) {
  for (const Release& release : kReleases) {
    if (ForeignTable(session, release.table).has(release.column)) return release.number;
  }
  return {};
}

/// "2026-01-02T03:04:05.678Z", with its milliseconds.
std::optional<UnixMillis> read_start(std::string_view text) {
  const auto seconds = base::parse_rfc3339(text);
  if (!seconds) return std::nullopt;
  const std::size_t point = text.find('.');
  UnixMillis millis = 0;
  bool ended = point == std::string_view::npos;
  for (std::size_t digit = 1; digit <= 3; ++digit) {
    const std::size_t at = ended ? text.size() : point + digit;
    ended = at >= text.size() || text[at] < '0' || text[at] > '9';
    millis = millis * 10 + (ended ? 0 : text[at] - '0');
  }
  return *seconds * 1000 + millis;
}

class IoHarness {
 public:
  IoHarness(db::Session& session, RunImport& job)
      : session_(session), job_(job), runs_(session, "runs") {}

  void read() {
    job_.report().release = release_of(session_);
    find_runs();
    runs_.note_others(kRuns, job_);
    note_tables();
    IoHarnessLists lists(session_, job_, ids_);
    job_.expect(static_cast<std::int64_t>(ids_.size()));
    for (const std::int64_t run : parents_first(order_, parents_, job_, name_of)) {
      job_.take(name_of(run), [&] {
        ForeignTrace trace = head_of(run);
        lists.fill(run, trace, starts_.count(run) != 0);
        return job_.transfer().take_trace(trace, job_.options().dry_run);
      });
    }
  }

 private:
  static std::string name_of(std::int64_t run) { return "run " + std::to_string(run); }

  void find_runs() {
    session_.each(runs_.select({{"id"}, {"parent_run_id"}, {"started_at"}, {"goal"}, {"file"}}) +
                      " ORDER BY id",
                  {}, [&](const db::Row& row) {
                    const std::int64_t run = row.integer(0);
                    const auto start = read_start(row.view(2));
                    if (order_.empty()) identify(row.text(3), row.text(4), start);
                    order_.push_back(run);
                    if (start) starts_[run] = *start;
                    if (!row.is_null(1)) parents_[run] = row.integer(1);
                  });
    if (order_.empty()) identify({}, {}, {});
    for (const std::int64_t run : order_) {
      ids_.emplace(run, RunId(run_uuid(job_.report().fingerprint, run, start_of(run).value_or(0))));
    }
  }

  /// When a run began; one that does not say so began with the run above it.
  std::optional<UnixMillis> start_of(std::int64_t run) const {
    for (int levels = 0; levels < kMostLevels; ++levels) {
      if (const auto start = starts_.find(run); start != starts_.end()) return start->second;
      const auto parent = parents_.find(run);
      if (parent == parents_.end()) break;
      run = parent->second;
    }
    return std::nullopt;
  }

  /// What the source is known by: its first run never changes. One without a start may be found in
  /// any number of files: it counts with its place.
  void identify(const std::string& goal, const std::string& file, std::optional<UnixMillis> start) {
    std::error_code error;
    const auto place = std::filesystem::weakly_canonical(job_.file(), error);
    const std::string mark =
        start ? std::to_string(*start) : (error ? job_.file() : place).string();
    const std::string first = goal + '\0' + file + '\0' + mark;
    job_.report().fingerprint = "io-harness:" + base::sha256_of_text(first).substr(0, 16);
  }

  void note_tables() {
    const std::unordered_set<std::string> known{
        "runs",           "steps",        "policy_events",     "pending_approvals",
        "sandbox_events", "agent_events", "checkpoint_events", "spawns"};
    for (const std::string& table :
         session_.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", {},
                      [](const db::Row& row) { return row.text(0); })) {
      if (known.count(table) == 0 && !table.starts_with("sqlite_")) {
        job_.note("table " + table, "no known release has it; it was left out");
      }
    }
  }

  ForeignTrace head_of(std::int64_t run) {
    const std::string where = name_of(run);
    ForeignTrace trace{.id = ids_.at(run),
                       .workspace_id = job_.options().workspace,
                       .origin_source = job_.report().fingerprint,
                       .origin_id = std::to_string(run)};
    const auto parent = parents_.find(run);
    if (parent != parents_.end()) trace.parent = ids_.at(parent->second);
    session_.each(runs_.select(kRuns) + " WHERE id = ?", {run}, [&](const db::Row& row) {
      trace.run = {.agent_name = "io-harness",
                   .agent_version = job_.report().release,
                   .model = "unknown",
                   .input = job_.text(where, row.view(1)),
                   .file = job_.text(where, row.view(2))};
      if (!row.view(4).empty()) trace.run.provider = job_.text(where, row.view(4));
      trace.started_at = start_of(run);
      const bool has_start = starts_.count(run) != 0;
      if (!row.is_null(8) && !has_start) {
        job_.note(where, "its start '" + to_valid_utf8(row.view(8)) +
                             "' is not a time; it counts as unknown");
      }
      trace.end = end_of(where, row, has_start);
    });
    return trace;
  }

  /// A word of an outcome tells how the run stopped. Releases before the status column, and rows
  /// that were there before it, read as running there and mean nothing.
  std::optional<RunEnd> end_of(const std::string& where, const db::Row& row, bool has_status) {
    std::string word = job_.text(where, row.view(3));
    if (word.size() > kMostWord) {
      job_.note(where, "its outcome is longer than 1,024 bytes and was cut");
      word = base::cut_to_bytes(word, kMostWord);
    }
    const std::string status = job_.text(where, row.view(7));
    const bool runs = status.empty() || status == "running";
    const bool blank = word.find_first_not_of(" \t\r\n") == std::string::npos;
    if (has_status && runs) return std::nullopt;
    if (!blank) return RunEnd::from_word(word);
    if (runs) return std::nullopt;
    if (status == "completed") {
      return RunEnd{.reason = RunReason::final_response, .outcome_text = status};
    }
    if (status == "paused") {
      return RunEnd{.reason = RunReason::approval_required,
                    .text = "a decision is awaited",
                    .outcome_text = status};
    }
    if (status == "failed") {
      return RunEnd{.reason = RunReason::legacy_failure, .text = status, .outcome_text = status};
    }
    job_.note(where, "its status '" + status + "' is not known; it reads as running");
    return std::nullopt;
  }

  db::Session& session_;
  RunImport& job_;
  const ForeignTable runs_;
  std::vector<std::int64_t> order_{};
  std::map<std::int64_t, std::int64_t> parents_{};
  std::map<std::int64_t, UnixMillis> starts_{};
  IoHarnessLists::RunIds ids_{};
};

}  // namespace

bool is_io_harness(db::Session& session) {
  const ForeignTable runs(session, "runs"), steps(session, "steps");
  return runs.has("goal") && runs.has("file") && runs.has("outcome") && steps.has("run_id") &&
         steps.has("decision");
}

void read_io_harness(db::Session& session, RunImport& job) {
  const std::int64_t format = session.value<std::int64_t>("PRAGMA user_version").value_or(0);
  if (format > kNewestFormat) {
    throw Error(ErrorCode::newer_format,
                "cannot import " + job.file().string() + ": it is of io-harness format " +
                    std::to_string(format) + ", and this program knows up to " +
                    std::to_string(kNewestFormat) + "; nothing was taken",
                {{"format", format}, {"supported", kNewestFormat}});
  }
  IoHarness(session, job).read();
}

}  // namespace threadstore::exchange
