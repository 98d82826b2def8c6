#include "state/runs/run_json.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

constexpr const char* kWhiteSpace = " \t\r\n\f\v";

void check_size(const std::string& text, const char* what, std::size_t most) {
  if (text.size() <= most) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(what) + " has " + std::to_string(text.size()) + " bytes; at most " +
                  std::to_string(most) + " are allowed",
              {{"limit_exceeded", what}, {"bytes", text.size()}, {"limit", most}});
}

}  // namespace

Payload budgets_json(const RunBudgets& budgets) {
  Payload json{{"max_turns", or_null(budgets.max_turns)},
               {"timeout_seconds", or_null(budgets.timeout_seconds)},
               {"max_total_tokens", or_null(budgets.max_total_tokens)},
               {"max_tool_calls", or_null(budgets.max_tool_calls)}};
  if (budgets.max_context_bytes) json["max_context_bytes"] = *budgets.max_context_bytes;
  return json;
}

Payload usage_json(const RunUsage& usage) { return Payload::parse(usage_text(usage)); }

std::string usage_text(const RunUsage& usage) {
  const auto member = [](const char* name, std::optional<std::int64_t> number) {
    return '"' + std::string(name) + "\":" + (number ? std::to_string(*number) : "null") + ',';
  };
  return '{' + member("model_turns", usage.model_turns) +
         member("input_tokens", usage.input_tokens) + member("output_tokens", usage.output_tokens) +
         member("total_tokens", usage.total_tokens) +
         member("responses_with_usage", usage.responses_with_usage) +
         member("responses_without_usage", usage.responses_without_usage) +
         member("tool_calls", usage.tool_calls) + R"("token_accounting":")" +
         std::string(to_word(usage.token_accounting())) + "\"}";
}

void check_words(const std::string& text, const char* what, std::size_t most) {
  if (text.find_first_not_of(kWhiteSpace) == std::string::npos) {
    throw Error(ErrorCode::invalid_argument, std::string(what) + " must not be blank");
  }
  check_text_size(text, what, most);
}

void check_text_size(const std::string& text, const char* what, std::size_t most) {
  check_size(text, what, most);
  check_text(text, what);
}

void check_content(const std::string& json, const char* what, std::size_t most) {
  check_size(json, what, most);
  base::check_json(json, what);
}

void check_object(const std::string& json, const char* what, std::size_t most) {
  check_content(json, what, most);
  if (json[json.find_first_not_of(kWhiteSpace)] == '{') return;
  throw Error(ErrorCode::invalid_argument, std::string(what) + " must be a JSON object");
}

}  // namespace threadstore::state
