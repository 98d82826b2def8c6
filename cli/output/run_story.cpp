#include "cli/output/run_story.h"

#include <unistd.h>

#include <cstdio>

#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/terminal/local_time.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t kMostShown = 100;

std::string shown(const std::string& text) {
  return cut_to_width(escape_for_terminal(text), kMostShown);
}

/// A member of a payload as text; empty when it is not there.
std::string member(const Json& payload, const char* key) {
  const auto found = payload.find(key);
  if (found == payload.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// ": text", or nothing.
std::string after_colon(const std::string& text) { return text.empty() ? "" : ": " + shown(text); }

std::string end_of_id(const std::string& id) {
  return id.size() > 12 ? id.substr(id.size() - 8) : escape_for_terminal(id);
}

std::string amount(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string joined(const Json& words) {
  std::string text;
  for (const Json& word : words) {
    if (!text.empty()) text += ", ";
    text += word.is_string() ? shown(word.get<std::string>()) : "?";
  }
  return text;
}

std::string decision_text(const Json& payload, const std::string& call, const std::string& verb) {
  const std::string by = member(payload, "decided_by");
  const std::string text = by.empty() ? call + " was " + verb : shown(by) + " " + verb + " " + call;
  return text + after_colon(member(payload, "reason"));
}

std::string tokens_of(const Json& payload) {
  const auto usage = payload.find("usage");
  if (usage == payload.end() || !usage->is_object()) return "tokens unknown";
  return member(*usage, "total_tokens") + " tokens";
}

std::string detail_of(const Json& payload, const char* key) {
  const auto detail = payload.find("reason_detail");
  return detail != payload.end() && detail->is_object() ? member(*detail, key) : "";
}

std::string run_sentence(const std::string& type, const Json& payload) {
  if (type == "run.started") return "started on " + shown(member(payload, "model"));
  if (type == "run.created") {
    return "delegated by run " + end_of_id(member(payload, "parent_run_id"));
  }
  if (type == "run.completed") return "completed";
  if (type == "run.blocked") return "blocked" + after_colon(detail_of(payload, "message"));
  if (type == "run.needs_user_input") return "asks" + after_colon(detail_of(payload, "question"));
  if (type == "run.failed") return "failed" + after_colon(member(payload, "error"));
  if (type == "run.limit_exceeded") return "stopped" + after_colon(member(payload, "error"));
  if (type == "run.cancelled") {
    return "cancelled (" + shown(member(payload, "reason_code")) + ")";
  }
  if (type == "run.abandoned") return "given up" + after_colon(detail_of(payload, "message"));
  if (type == "run.resumed" && payload.contains("from_step")) {
    return "goes on with step " + member(payload, "from_step") +
           after_colon(member(payload, "detail"));
  }
  if (type == "run.resumed") return "opened again; it was " + member(payload, "previous_status");
  if (type == "run.provider_set") return "the model is of " + shown(member(payload, "provider"));
  if (type == "run.continued") return "went on";
  if (type == "run.taken_over") {
    const bool alive = payload.value("was_alive", false);
    return "taken over by " + shown(member(payload, "by")) + " from " +
           shown(member(payload, "from")) + (alive ? "" : ", which had died");
  }
  return type;
}

/// What a step trace tells; empty for other types.
std::string step_sentence(const std::string& type, const Json& payload) {
  const std::string step = "step " + member(payload, "step");
  if (type == "step.committed") return step + " is done, " + member(payload, "tokens") + " tokens";
  if (type == "step.recorded") {
    return step + ": attempt " + member(payload, "attempt") + " failed, " +
           member(payload, "tokens") + " tokens";
  }
  const std::string what = shown(member(payload, "act")) + " " + shown(member(payload, "target"));
  if (type == "policy.refused") return "may not " + what + after_colon(member(payload, "rule"));
  if (type == "policy.decided") {
    return shown(member(payload, "source")) + " decided " + shown(member(payload, "decision")) +
           " for " + what;
  }
  if (type == "delegation.refused")
    return "may not delegate" + after_colon(member(payload, "detail"));
  if (type == "budget.drawn") {
    return "drew " + member(payload, "tokens") + " tokens, " + member(payload, "remaining") +
           " remain";
  }
  return "";
}

}  // namespace

std::string shown_state(const Run& run) {
  if (run.interrupted) return "interrupted";
  if (run.lifecycle == RunLifecycle::active) return "running";
  const std::string reason(run.reason_code ? to_word(*run.reason_code) : "");
  if (run.lifecycle == RunLifecycle::suspended) return "waiting: " + reason;
  const std::string outcome(to_word(run.outcome.value_or(RunOutcome::failed)));
  return run.outcome == RunOutcome::completed ? outcome : outcome + ": " + reason;
}

Tone tone_of_state(const Run& run) {
  if (run.interrupted) return Tone::bad;
  if (run.lifecycle == RunLifecycle::active) return Tone::strong;
  if (run.lifecycle == RunLifecycle::suspended) return Tone::warning;
  return run.outcome == RunOutcome::completed ? Tone::good : Tone::bad;
}

std::string shown_duration(std::int64_t milliseconds) {
  if (milliseconds < 60'000) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(milliseconds) / 1000.0);
    return text;
  }
  const std::int64_t seconds = milliseconds / 1000;
  if (seconds < 3600) {
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

std::string shown_usage(const RunUsage& usage) {
  std::string text =
      amount(usage.model_turns, "model turn") + ", " + amount(usage.tool_calls, "tool call");
  if (usage.total_tokens) text += ", " + amount(*usage.total_tokens, "token");
  if (usage.responses_without_usage > 0) {
    text += " (" + amount(usage.responses_without_usage, "response") + " of unknown cost)";
  }
  return text;
}

RunStory::RunStory(const std::vector<RunCall>& calls) {
  for (const RunCall& call : calls) calls_.emplace(call.call_id.str(), call);
}

std::string RunStory::call_name(const std::string& id) const {
  const auto found = calls_.find(id);
  const std::string tool = found == calls_.end() ? "call" : shown(found->second.tool_name);
  return tool + " (" + shown(id) + ")";
}

std::string RunStory::sentence(const RunEvent& event) const {
  const Json payload = Json::parse(event.payload, nullptr, false);
  const std::string& type = event.event_type;
  if (!payload.is_object()) return shown(type) + after_colon(event.payload);
  if (type.starts_with("run.")) return run_sentence(type, payload);
  if (const auto told = step_sentence(type, payload); !told.empty()) return told;
  const bool request = payload.contains("request_id");
  const std::string call =
      request ? "request #" + member(payload, "request_id") : call_name(member(payload, "call_id"));
  if (type == "model.requested") return "asked the model";
  if (type == "model.responded") return "the model answered, " + tokens_of(payload);
  if (type == "tool.requested") {
    const auto found = calls_.find(member(payload, "call_id"));
    const std::string arguments = found == calls_.end() ? "" : found->second.arguments;
    return "wants " + shown(member(payload, "tool")) + " (" + shown(member(payload, "call_id")) +
           ")" + after_colon(arguments);
  }
  if (type == "tool.started") return "runs " + call;
  if (type == "tool.completed") {
    const std::string by = member(payload, "answered_by");
    return call + " is done" + (by.empty() ? "" : ", says " + shown(by));
  }
  if (type == "tool.failed") return call + " failed" + after_colon(member(payload, "error"));
  if (type == "tool.recoverable_error") {
    return call + " failed, the model may try again" + after_colon(member(payload, "error"));
  }
  if (type == "tool.denied")
    return call + " was not allowed" + after_colon(member(payload, "error"));
  if (type == "tool.indeterminate") return call + ": nobody knows whether it happened";
  if (type == "tool.retried") {
    return call + " is to run again, says " + shown(member(payload, "answered_by"));
  }
  if (type == "approval.requested" && request) {
    return "asks to " + shown(member(payload, "act")) + " " + shown(member(payload, "target")) +
           " (" + call + ")";
  }
  if (type == "approval.requested") {
    return "asks to run " + call + ": " + joined(payload.value("capabilities", Json::array()));
  }
  if (type == "approval.granted") return decision_text(payload, call, "granted");
  if (type == "approval.denied") return decision_text(payload, call, "denied");
  if (type == "delegation.started") {
    return "delegates to run " + end_of_id(member(payload, "child_run_id"));
  }
  if (type == "delegation.finished") {
    return "run " + end_of_id(member(payload, "child_run_id")) +
           " ended: " + member(payload, "outcome");
  }
  if (type == "artifact.created") {
    return "made " + shown(member(payload, "relative_path")) + ", " + member(payload, "size") +
           " bytes";
  }
  if (type == "checkpoint.created") {
    return "checkpoint at turn " + member(payload, "turn") + after_colon(member(payload, "name"));
  }
  if (type == "budget.raised") return "budgets raised";
  return shown(type) + (payload.empty() ? "" : after_colon(event.payload));
}

void print_runs(Invocation& call, const std::vector<Run>& runs) {
  Table table({"ID", "STARTED", "STATE", "AGENT", "TOOK", "TOKENS", "INPUT"});
  for (const Run& run : runs) {
    table.add({{end_of_id(run.id.str()), Tone::mark},
               {short_local_time(run.created_at / 1000, call.now())},
               {shown_state(run), tone_of_state(run)},
               {run.agent_name},
               {shown_duration(run.elapsed_ms)},
               {run.usage.total_tokens ? std::to_string(*run.usage.total_tokens) : "-"},
               {run.input, Tone::faint}});
  }
  table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
}

void print_story(Invocation& call, const Runs& runs, const Run& run) {
  std::ostream& out = call.out();
  const Style& style = call.style();
  out << style.paint(Tone::strong, shown(run.agent_name) + " " + shown(run.agent_version)) << "  "
      << style.paint(Tone::faint, escape_for_terminal(run.id.str())) << "  "
      << style.paint(tone_of_state(run), shown_state(run)) << '\n'
      << short_local_time(run.created_at / 1000, call.now()) << ", took "
      << shown_duration(run.elapsed_ms)
      << (run.suspended_ms > 0 ? " (waited " + shown_duration(run.suspended_ms) + ")" : "") << ", "
      << shown_usage(run.usage) << '\n';
  if (run.thread_id) out << "in thread " << escape_for_terminal(run.thread_id->str()) << '\n';
  if (!run.input.empty()) out << "\n> " << shown(run.input) << '\n';
  out << '\n';
  const RunStory story(runs.calls().list(run.id));
  for (std::int64_t after = 0;;) {
    const auto events = runs.log().list(run.id, after);
    if (events.empty()) break;
    after = events.back().sequence;
    for (const RunEvent& event : events) {
      const std::string when =
          "+" + shown_duration(std::max<std::int64_t>(0, event.timestamp - run.created_at));
      out << style.paint(Tone::faint, pad_to_width(when, 12)) << story.sentence(event) << '\n';
    }
  }
  if (run.output && !run.output->empty()) {
    out << '\n' << escape_for_terminal(*run.output, Lines::multiple);
    if (run.output->back() != '\n') out << '\n';
  }
}

}  // namespace threadstore::cli
