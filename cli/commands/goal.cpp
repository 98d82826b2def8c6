#include <unistd.h>

#include <array>
#include <memory>

#include "cli/app/choices.h"
#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/paging_options.h"
#include "cli/commands/thread_argument.h"
#include "cli/output/goal_text.h"
#include "cli/output/record_json.h"
#include "cli/output/table.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string thread, objective, fingerprint, tokens_or_none;
  std::optional<std::int64_t> budget;
  std::int64_t tokens = 0;
  std::int64_t seconds = 0;
  std::string reason = "user";
  std::optional<std::string> status;
  PagingOptions paging;
};

void print_goal(Invocation& call, const Goal& goal) {
  if (call.json()) return call.print(goal_json(goal));
  call.out() << goal_text(goal, call.style());
}

template <class Change>
Action on_goal(Syntax& syntax, std::shared_ptr<Options> options, Change change) {
  add_thread(syntax, options->thread);
  return [options, change](Invocation& call) {
    const ThreadId thread = resolve_thread(call, options->thread).id;
    print_goal(call, change(call, thread));
  };
}

Goal present(const ThreadId& thread, std::optional<Goal> goal) {
  if (goal) return *std::move(goal);
  throw Error(ErrorCode::not_found, "thread " + thread.str() + " has no goal");
}

Action declare_set(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  const Action action =
      on_goal(syntax, options, [options](Invocation& call, const ThreadId& thread) {
        return call.store().goals().set(
            thread, {.objective = line_argument(call, options->objective, "the objective"),
                     .token_budget = options->budget});
      });
  syntax
      .add_option("objective", options->objective, "What to work towards; - reads standard input")
      ->type_name("OBJECTIVE")
      ->required();
  syntax.add_option("--budget", options->budget, "Tokens that it may use (default: no limit)")
      ->type_name("N");
  return action;
}

Action declare_show_goal(Syntax& syntax) {
  return on_goal(syntax, std::make_shared<Options>(), [](Invocation& call, const ThreadId& thread) {
    return call.store().goals().get(thread);
  });
}

Action declare_usage(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  const Action action =
      on_goal(syntax, options, [options](Invocation& call, const ThreadId& thread) {
        const auto accrued = call.store().goals().record_usage(
            thread, {.tokens = options->tokens, .seconds = options->seconds});
        if (!accrued) return present(thread, std::nullopt);
        if (accrued->budget_passed) call.note("the goal passed its token budget");
        return accrued->goal;
      });
  syntax.add_option("--tokens", options->tokens, "Tokens to add")->type_name("N");
  syntax.add_option("--seconds", options->seconds, "Seconds to add")->type_name("N");
  return action;
}

Action declare_continue(Syntax& syntax) {
  return on_goal(syntax, std::make_shared<Options>(), [](Invocation& call, const ThreadId& thread) {
    return present(thread, call.store().goals().record_continuation(thread));
  });
}

Action declare_gap(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  const Action action =
      on_goal(syntax, options, [options](Invocation& call, const ThreadId& thread) {
        return present(thread, call.store().goals().record_gap(thread, options->fingerprint));
      });
  syntax
      .add_option("fingerprint", options->fingerprint, "What is missing, as 64 hexadecimal digits")
      ->type_name("FINGERPRINT")
      ->required();
  return action;
}

Action declare_pause(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  const Action action =
      on_goal(syntax, options, [options](Invocation& call, const ThreadId& thread) {
        const auto reason = from_word<GoalPauseReason>(options->reason);
        return call.store().goals().pause(thread, reason.value_or(GoalPauseReason::user));
      });
  syntax.add_option("--reason", options->reason, "Why (default: user)")
      ->check(one_of<GoalPauseReason>())
      ->type_name("");
  return action;
}

Action declare_resume_goal(Syntax& syntax) {
  return on_goal(syntax, std::make_shared<Options>(), [](Invocation& call, const ThreadId& thread) {
    return call.store().goals().resume(thread);
  });
}

Action declare_budget(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  const Action action =
      on_goal(syntax, options, [options](Invocation& call, const ThreadId& thread) {
        return call.store().goals().set_token_budget(thread, parse_budget(options->tokens_or_none));
      });
  syntax.add_option("tokens", options->tokens_or_none, "Tokens that it may use in all, or none")
      ->type_name("N")
      ->required();
  return action;
}

Action declare_complete(Syntax& syntax) {
  return on_goal(syntax, std::make_shared<Options>(), [](Invocation& call, const ThreadId& thread) {
    return call.store().goals().set_status(thread, GoalStatus::complete);
  });
}

Action declare_clear_goal(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_thread(syntax, *given);
  return [given](Invocation& call) {
    const ThreadId thread = resolve_thread(call, *given).id;
    if (!call.store().goals().remove(thread)) present(thread, std::nullopt);
    if (call.json()) return call.print({{"thread_id", thread.str()}});
    call.out() << "cleared the goal of " << escape_for_terminal(thread.str()) << '\n';
  };
}

Action declare_list_goals(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("--status", options->status, "Only goals with that status")
      ->check(one_of<GoalStatus>())
      ->type_name("");
  add_paging(syntax, options->paging);
  return [options](Invocation& call) {
    GoalFilter filter{.limit = options->paging.limit, .after = options->paging.after};
    if (options->status) filter.status = from_word<GoalStatus>(*options->status);
    const GoalPage page = call.store().goals().list(filter);
    for (const DamagedGoal& goal : page.damaged) {
      call.warn(goal.why);
      call.set_exit_code(exit_damaged);
    }
    if (call.json()) return print_page<Goal>(call, page, goal_json);
    Table table({"THREAD", "UPDATED", "STATUS", "TOKENS", "OBJECTIVE"});
    for (const Goal& goal : page.items) {
      table.add({{goal.thread_id.str(), Tone::mark},
                 {short_local_time(goal.updated_at, call.now())},
                 {shown_status(goal), tone_of(goal.status)},
                 {tokens_text(goal)},
                 {goal.objective, Tone::strong}});
    }
    table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
    note_next(call, page.next);
  };
}

constexpr std::array kVerbs{
    verb("set", Access::writing, declare_set, "Give a thread a goal",
         "goal set @last 'Ship the parser fix' --budget 100000"),
    verb("show", Access::reading, declare_show_goal, "Show a thread's goal", "goal show @last"),
    verb("usage", Access::writing, declare_usage, "Add to what a goal used",
         "goal usage @last --tokens 1200 --seconds 40"),
    verb("continue", Access::writing, declare_continue, "Count a pass that the goal begins itself",
         "goal continue @last"),
    verb("gap", Access::writing, declare_gap,
         "Say what a pass left open; three times the same pauses the goal",
         "goal gap @last $(sha256sum < report | cut -c-64)"),
    verb("pause", Access::writing, declare_pause, "Pause a goal", "goal pause @last"),
    verb("resume", Access::writing, declare_resume_goal, "Make a stopped goal active again",
         "goal resume @last"),
    verb("budget", Access::writing, declare_budget, "Change a goal's token budget",
         "goal budget @last 200000"),
    verb("complete", Access::writing, declare_complete, "Say that a goal is reached",
         "goal complete @last"),
    verb("clear", Access::writing, declare_clear_goal, "Take a thread's goal away",
         "goal clear @last"),
    verb("list", Access::reading, declare_list_goals, "List the goals of all threads",
         "goal list --status active"),
};

}  // namespace

std::span<const Command> goal_verbs() { return kVerbs; }

}  // namespace threadstore::cli
