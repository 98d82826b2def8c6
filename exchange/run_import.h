#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/foreign_database.h"
#include "threadstore/import_runs.h"
#include "threadstore/transfer.h"

namespace threadstore::exchange {

/// One import of runs: where they go, what it reports. Not thread-safe.
class RunImport {
 public:
  RunImport(StateStore store, std::filesystem::path file, const ImportRunsOptions& options);

  const std::filesystem::path& file() const noexcept { return file_; }
  const ImportRunsOptions& options() const noexcept { return options_; }
  Transfer& transfer() noexcept { return transfer_; }
  ImportRunsReport& report() noexcept { return report_; }

  /// Notes what could not be taken.
  void note(const std::string& where, const std::string& why);

  void expect(std::int64_t runs);
  /// Gives a run to the store with `take`, which returns a `TakenRun`; what the store refuses of it
  /// is noted. Nothing when it was refused.
  std::optional<TakenRun> take(const std::string& where, const std::function<TakenRun()>& take);

  /// The text, mended where it is not UTF-8, which is noted.
  std::string text(const std::string& where, std::string_view stored);
  /// The JSON text; a text that is none becomes a JSON string, which is noted.
  std::string json(const std::string& where, std::string_view stored);

 private:
  std::filesystem::path file_;
  const ImportRunsOptions& options_;
  Transfer transfer_;
  ImportRunsReport report_;
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
};

/// Runs in an order in which parents come before those below them. A parent that is not there, or
/// that lies below its run, is taken out of `parents` and noted.
template <class Id, class Name>
std::vector<Id> parents_first(const std::vector<Id>& runs, std::map<Id, Id>& parents,
                              RunImport& job, Name&& name_of) {
  const std::set<Id> there(runs.begin(), runs.end());
  std::vector<Id> ordered;
  std::set<Id> placed;
  for (const Id& first : runs) {
    std::vector<Id> chain;
    std::set<Id> seen;
    for (Id run = first; placed.count(run) == 0;) {
      chain.push_back(run);
      seen.insert(run);
      const auto parent = parents.find(run);
      if (parent == parents.end()) break;
      const bool missing = there.count(parent->second) == 0;
      if (missing || seen.count(parent->second) != 0) {
        job.note(name_of(run), "its parent, " + name_of(parent->second) +
                                   (missing ? ", is not there" : ", lies below it") +
                                   "; it was kept as a root");
        parents.erase(parent);
        break;
      }
      run = parent->second;
    }
    placed.insert(chain.begin(), chain.end());
    ordered.insert(ordered.end(), chain.rbegin(), chain.rend());
  }
  return ordered;
}

/// A table whose columns came with releases: what a file lacks reads as its default.
class ForeignTable {
 public:
  struct Column {
    const char* name;
    const char* otherwise = "NULL";  ///< SQL
  };

  ForeignTable(db::Session& session, std::string name);

  bool there() const noexcept { return !columns_.empty(); }
  bool has(const std::string& column) const { return columns_.count(column) != 0; }
  const std::string& name() const noexcept { return name_; }
  /// `SELECT … FROM <table>` of these columns, in their order.
  std::string select(const std::vector<Column>& columns) const;
  /// Notes columns that are none of these.
  void note_others(const std::vector<Column>& known, RunImport& job) const;

 private:
  std::string name_;
  std::set<std::string> columns_;
};

}  // namespace threadstore::exchange
