#include "cli/output/thread_table.h"

#include <unistd.h>

#include "cli/output/table.h"
#include "cli/terminal/local_time.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kShort = 8;
constexpr std::size_t kShownWhole = 20;

Tone tone_of_status(const std::string& status) {
  if (status == "running") return Tone::good;
  if (status == "interrupted" || status == "failed") return Tone::bad;
  if (status == "paused") return Tone::warning;
  return Tone::faint;
}

}  // namespace

std::string short_id(const ThreadId& id) {
  const std::string& text = id.str();
  if (text.size() <= kShownWhole) return text;
  std::size_t start = text.size() - kShort;
  while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U) --start;
  return text.substr(start);
}

std::string shown_status(const StateStore& store, const Thread& thread) {
  if (thread.status == ThreadStatus::running) {
    const auto lease = store.leases().find(LeaseKind::thread, thread.id.str());
    if (lease && !lease->alive) return "interrupted";
  }
  return std::string(to_word(thread.status));
}

std::string shown_name(const Thread& thread) {
  if (thread.name && !thread.name->empty()) return *thread.name;
  return thread.preview.empty() ? "-" : '"' + thread.preview + '"';
}

void print_threads(Invocation& call, const std::vector<Thread>& threads, bool with_directory) {
  std::vector<std::string> headings{"ID", "ACTIVE", "STATUS", "NAME"};
  if (with_directory) headings.emplace_back("DIRECTORY");
  Table table(headings);
  for (const Thread& thread : threads) {
    const std::string status = shown_status(call.store(), thread);
    std::vector<Cell> row{{short_id(thread.id), Tone::mark},
                          {short_local_time(thread.updated_at, call.now())},
                          {status, tone_of_status(status)},
                          {shown_name(thread), Tone::strong}};
    if (with_directory) row.push_back({thread.cwd, Tone::faint});
    table.add(std::move(row));
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

}  // namespace threadstore::cli
