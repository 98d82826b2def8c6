#include "exchange/import_job.h"

#include <algorithm>

namespace threadstore::exchange {

namespace {
constexpr std::size_t kMostSkips = 1000;
}

ImportJob::ImportJob(StateStore store, const ImportOptions& options)
    : store_(std::move(store)), options_(options), writer_(*this) {}

void ImportJob::skip(const std::filesystem::path& file, std::int64_t line, const std::string& why) {
  ++report_.skipped_total;
  if (report_.skipped.size() < kMostSkips) {
    report_.skipped.push_back({.file = file, .line = line, .why = why});
  }
}

void ImportJob::expect(std::int64_t files, std::int64_t bytes) {
  progress_.files_total = files;
  progress_.bytes_total = bytes;
}

void ImportJob::begin_file(std::int64_t bytes) {
  file_bytes_ = bytes;
  file_read_ = 0;
  ++report_.files;
}

void ImportJob::advance(std::int64_t bytes) {
  // What is decompressed is more than what lies there.
  const std::int64_t more = std::min(bytes, file_bytes_ - file_read_);
  file_read_ += more;
  progress_.bytes += more;
  tell();
}

void ImportJob::end_file() {
  advance(file_bytes_ - file_read_);
  ++progress_.files;
  tell();
}

void ImportJob::tell() {
  progress_.messages = report_.messages;
  if (options_.progress) options_.progress(progress_);
}

}  // namespace threadstore::exchange
