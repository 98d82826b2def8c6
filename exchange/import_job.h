#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "exchange/history_writer.h"
#include "threadstore/import.h"

namespace threadstore::exchange {

/// One import: where it writes, what it reports. Not thread-safe.
class ImportJob {
 public:
  ImportJob(StateStore store, const ImportOptions& options);

  StateStore& store() noexcept { return store_; }
  const StateStore& store() const noexcept { return store_; }
  bool dry_run() const noexcept { return options_.dry_run; }
  HistoryWriter& writer() noexcept { return writer_; }
  ImportReport& report() noexcept { return report_; }

  /// Notes what could not be taken.
  void skip(const std::filesystem::path& file, std::int64_t line, const std::string& why);

  /// `bytes` more of the current file were read.
  void advance(std::int64_t bytes);
  void begin_file(std::int64_t bytes);
  void end_file();
  void expect(std::int64_t files, std::int64_t bytes);

  /// Sessions that are among the files of this import, by source id.
  std::set<std::string> sessions{};
  /// Of these, the ones that another was forked from.
  std::set<std::string> needed{};

 private:
  void tell();

  StateStore store_;
  const ImportOptions options_;
  ImportReport report_;
  ImportProgress progress_;
  std::int64_t file_bytes_ = 0;  ///< of the current file
  std::int64_t file_read_ = 0;
  HistoryWriter writer_;
};

}  // namespace threadstore::exchange
