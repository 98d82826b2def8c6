#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "threadstore/run_record.h"

namespace threadstore::state {

/// Payloads keep the order of their keys, as docs/runs.md lists them.
using Payload = nlohmann::ordered_json;

/// Every budget, null when unset; `max_context_bytes` only when set.
Payload budgets_json(const RunBudgets& budgets);
Payload usage_json(const RunUsage& usage);
/// The same as text, at a tenth of the cost: every event writes it.
std::string usage_text(const RunUsage& usage);

// The second parameter only lets the header do without the whole library.
template <class T, class Json = Payload>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class Enum, class Json = Payload>
Json word_or_null(const std::optional<Enum>& value) {
  return value ? Json(to_word(*value)) : Json(nullptr);
}

/// Throws `invalid_argument`, naming `what`, for text that is empty or only white space, is not
/// UTF-8 or is longer than `most` bytes.
void check_words(const std::string& text, const char* what, std::size_t most);
/// The same for text that may be empty.
void check_text_size(const std::string& text, const char* what, std::size_t most);
/// The same for JSON text.
void check_content(const std::string& json, const char* what, std::size_t most);
/// And for JSON text that must be an object.
void check_object(const std::string& json, const char* what, std::size_t most);

}  // namespace threadstore::state
