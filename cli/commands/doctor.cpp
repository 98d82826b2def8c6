#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/commands/commands.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

Json check_json(const Check& check) {
  return {{"name", check.name},
          {"status", to_word(check.status)},
          {"detail", check.detail},
          {"advice", check.advice.empty() ? Json(nullptr) : Json(check.advice)}};
}

Tone tone_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::ok:
      return Tone::good;
    case CheckStatus::warning:
      return Tone::warning;
    case CheckStatus::failed:
      return Tone::bad;
  }
  return Tone::plain;
}

void print_checks(Invocation& call, const std::vector<Check>& checks) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  for (const Check& check : checks) {
    const std::string status(to_word(check.status));
    call.out() << call.style().paint(tone_of(check.status), status)
               << std::string(9 - status.size(), ' ') << pad_to_width(check.name, width) << "  "
               << escape_for_terminal(check.detail) << '\n';
    if (check.advice.empty()) continue;
    call.out() << std::string(9, ' ') << call.style().paint(Tone::faint, "→ ")
               << escape_for_terminal(check.advice) << '\n';
  }
}

/// What went wrong when the store does not even open: that is the finding then.
Check failed_to_open(Invocation& call, const Error& error) {
  call.set_exit_code(exit_code_of(error.code()));
  return {.name = "open", .status = CheckStatus::failed, .detail = error.what()};
}

std::vector<Check> examine(Invocation& call, bool repair) try {
  call.store();
  if (call.store_missing()) {
    return {{.name = "store", .detail = "there is no store at " + call.database().string()}};
  }
  if (repair) {
    const IndexDifference mended = call.open_for_writing().repair_index();
    const auto count = mended.missing.size() + mended.extra.size() + mended.different.size();
    call.note("index: " + std::to_string(count) + (count == 1 ? " entry" : " entries") + " mended");
  }
  auto checks = call.store().check();
  if (std::any_of(checks.begin(), checks.end(),
                  [](const Check& check) { return check.status == CheckStatus::failed; })) {
    call.set_exit_code(exit_damaged);
  }
  return checks;
} catch (const Error& error) {
  return {failed_to_open(call, error)};
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  auto repair = std::make_shared<bool>(false);
  app.add_flag("--repair", *repair, "Mend the session index from the database first");
  return [repair](Invocation& call) {
    const auto checks = examine(call, *repair);
    if (!call.json()) return print_checks(call, checks);
    Json list = Json::array();
    for (const Check& check : checks) list.push_back(check_json(check));
    const bool ok = call.exit_code() == exit_done;
    call.print({{"ok", ok}, {"checks", std::move(list)}});
  };
}

Action declare_stats(CLI::App&) {
  return [](Invocation& call) {
    const StoreStats stats = call.store().stats();
    const Json document{{"threads", stats.threads},
                        {"archived", stats.archived},
                        {"forks", stats.forks},
                        {"messages", stats.messages},
                        {"checkpoints", stats.checkpoints},
                        {"jobs", stats.jobs},
                        {"goals", stats.goals},
                        {"database_bytes", stats.database_bytes},
                        {"wal_bytes", stats.wal_bytes},
                        {"index_bytes", stats.index_bytes},
                        {"index_lines", stats.index_lines},
                        {"index_backlog", stats.index_backlog}};
    if (call.json()) return call.print(document);
    for (const auto& [name, number] : document.items()) {
      call.out() << pad_to_width(name, 16) << number << '\n';
    }
  };
}

}  // namespace threadstore::cli
