#include <algorithm>
#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/output/check_json.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

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

struct Examination {
  std::vector<Check> checks;
  std::vector<Repair> repairs;
};

Examination examine(Invocation& call, bool repair) try {
  Examination done;
  call.store();
  if (call.store_missing()) {
    done.checks = {{.name = "store", .detail = "there is no store at " + call.database().string()}};
    return done;
  }
  if (repair) done.repairs = call.open_for_writing().repair();
  done.checks = call.store().check();
  if (std::any_of(done.checks.begin(), done.checks.end(),
                  [](const Check& check) { return check.status == CheckStatus::failed; })) {
    call.set_exit_code(exit_damaged);
  }
  return done;
} catch (const Error& error) {
  return {.checks = {failed_to_open(call, error)}, .repairs = {}};
}

void print_repairs(Invocation& call, const std::vector<Repair>& repairs) {
  for (const Repair& repair : repairs) {
    call.out() << call.style().paint(Tone::good, "mended") << "   "
               << escape_for_terminal(repair.name + ": " + repair.detail) << '\n';
  }
  if (repairs.empty()) call.out() << "there was nothing to mend\n";
}

}  // namespace

Action declare_doctor(Syntax& syntax) {
  auto repair = std::make_shared<bool>(false);
  syntax.add_flag("--repair", *repair,
                  "Mend first what is safe to mend; a backup is made before rows change");
  return [repair](Invocation& call) {
    const Examination done = examine(call, *repair);
    if (!call.json()) {
      if (*repair && !call.store_missing()) print_repairs(call, done.repairs);
      return print_checks(call, done.checks);
    }
    Json repairs = Json::array();
    for (const Repair& mended : done.repairs) {
      repairs.push_back({{"name", mended.name}, {"detail", mended.detail}});
    }
    const bool ok = call.exit_code() == exit_done;
    Json document{{"ok", ok}, {"checks", checks_json(done.checks)}};
    if (*repair) document["repairs"] = std::move(repairs);
    call.print(document);
  };
}

Action declare_stats(Syntax&) {
  return [](Invocation& call) {
    const StoreStats stats = call.store().stats();
    const Json document{{"threads", stats.threads},
                        {"archived", stats.archived},
                        {"forks", stats.forks},
                        {"messages", stats.messages},
                        {"runs", stats.runs},
                        {"checkpoints", stats.checkpoints},
                        {"jobs", stats.jobs},
                        {"goals", stats.goals},
                        {"database_bytes", stats.database_bytes},
                        {"wal_bytes", stats.wal_bytes},
                        {"index_bytes", stats.index_bytes},
                        {"index_lines", stats.index_lines},
                        {"index_backlog", stats.index_backlog},
                        {"search_bytes", stats.search_bytes}};
    if (call.json()) return call.print(document);
    for (const auto& [name, number] : document.items()) {
      call.out() << pad_to_width(name, 16) << number << '\n';
    }
  };
}

}  // namespace threadstore::cli
