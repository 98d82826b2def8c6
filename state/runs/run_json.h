#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "threadstore/run_record.h"

namespace threadstore::state {

/// Payloads keep the order of their keys, as docs/runs.md lists them.
using Payload = nlohmann::ordered_json;

/// Every budget, null when unset; `max_context_bytes` only when set.
Payload budgets_json(const RunBudgets& budgets);
Payload usage_json(const RunUsage& usage);

template <class T>
Payload or_null(const std::optional<T>& value) {
  return value ? Payload(*value) : Payload(nullptr);
}
template <class Enum>
Payload word_or_null(const std::optional<Enum>& value) {
  return value ? Payload(to_word(*value)) : Payload(nullptr);
}

/// Throws `invalid_argument`, naming `what`, for text that is empty or only white space, is not
/// UTF-8 or is longer than `most` bytes.
void check_words(const std::string& text, const char* what, std::size_t most = max_run_content);
/// The same for text that may be empty.
void check_text_size(const std::string& text, const char* what, std::size_t most = max_run_content);
/// The same for JSON text.
void check_content(const std::string& json, const char* what);
/// And for JSON text that must be an object.
void check_object(const std::string& json, const char* what);

}  // namespace threadstore::state
