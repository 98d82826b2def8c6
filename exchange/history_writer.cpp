#include "exchange/history_writer.h"

#include <algorithm>

#include "exchange/import_job.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

// A batch holds the write lock for some 50 ms.
constexpr std::size_t kMostSteps = 1000;
constexpr std::size_t kMostBytes = std::size_t{4} << 20U;

std::size_t size_of(const MessageRecord& record) {
  return record.message.content.size() +
         (record.message.item ? record.message.item->size() : std::size_t{0});
}

}  // namespace

void HistoryWriter::begin(const std::filesystem::path& file, SessionRecord session) {
  if (!session.thread.id) {
    session.thread.id = thread_id_of(session.source, session.source_id);
  }
  if (session.header) bytes_ += size_of(*session.header);
  steps_.emplace_back(Begin{file, std::move(session)});
}

void HistoryWriter::add(MessageRecord message) {
  bytes_ += size_of(message);
  steps_.emplace_back(std::move(message));
  if (steps_.size() >= kMostSteps || bytes_ >= kMostBytes) flush();
}

void HistoryWriter::add(CheckpointRecord checkpoint) {
  bytes_ += checkpoint.state.size();
  steps_.emplace_back(std::move(checkpoint));
  if (steps_.size() >= kMostSteps || bytes_ >= kMostBytes) flush();
}

void HistoryWriter::end(SessionEnd end) {
  steps_.emplace_back(std::move(end));
  if (steps_.size() >= kMostSteps) flush();
}

void HistoryWriter::abandon() {
  steps_.clear();
  bytes_ = 0;
}

void HistoryWriter::flush() {
  if (steps_.empty()) return;
  State next;
  const auto work = [&] {
    next = state_;  // the body may run twice
    for (const Step& step : steps_) {
      std::visit([&](const auto& what) { apply(what, next); }, step);
    }
  };
  if (job_.dry_run()) {
    work();
  } else {
    job_.store().transaction(work);
  }
  for (const Report& report : next.reports) job_.skip(report.file, report.line, report.why);
  next.reports.clear();
  state_ = std::move(next);
  ImportReport& report = job_.report();
  report.threads = state_.counts.threads;
  report.grown = state_.counts.grown;
  report.messages = state_.counts.messages;
  report.already_present = state_.counts.already_present;
  steps_.clear();
  bytes_ = 0;
}

std::optional<MessageId> HistoryWriter::find(const ThreadId& thread, const std::string& key) {
  flush();
  return lookup(lineage_of(thread), key);
}

std::vector<ThreadId> HistoryWriter::lineage_of(const ThreadId& thread) {
  std::vector<ThreadId> lineage;
  std::optional<ThreadId> next = thread;
  while (next && std::find(lineage.begin(), lineage.end(), *next) == lineage.end()) {
    const auto row = job_.store().threads().find(*next);
    if (!row) break;
    lineage.push_back(*next);
    next = row->forked_from ? std::optional(row->forked_from->thread_id) : std::nullopt;
  }
  return lineage;
}

std::optional<MessageId> HistoryWriter::lookup(const std::vector<ThreadId>& lineage,
                                               const std::string& key) {
  for (const ThreadId& thread : lineage) {
    if (const auto id = job_.store().messages().find_by_key(thread, key)) return id;
  }
  return std::nullopt;
}

}  // namespace threadstore::exchange
