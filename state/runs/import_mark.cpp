#include "state/runs/import_mark.h"

#include <nlohmann/json.hpp>

namespace threadstore::state {
namespace {

std::optional<std::int64_t> integer(const Payload& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::optional<std::string> text(const Payload& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

template <class Enum>
std::optional<Enum> word(const Payload& object, const char* key) {
  const auto given = text(object, key);
  return given ? from_word<Enum>(*given) : std::nullopt;
}

RunUsage usage(const Payload& state, const char* key) {
  const Payload object = state.value(key, Payload::object());
  return {.model_turns = integer(object, "model_turns").value_or(0),
          .input_tokens = integer(object, "input_tokens"),
          .output_tokens = integer(object, "output_tokens"),
          .total_tokens = integer(object, "total_tokens"),
          .responses_with_usage = integer(object, "responses_with_usage").value_or(0),
          .responses_without_usage = integer(object, "responses_without_usage").value_or(0),
          .tool_calls = integer(object, "tool_calls").value_or(0)};
}

Payload state_json(const ImportedState& state) {
  return {{"lifecycle", to_word(state.lifecycle)},
          {"outcome", word_or_null(state.outcome)},
          {"reason_code", word_or_null(state.reason_code)},
          {"outcome_text", or_null(state.outcome_text)},
          {"provider", or_null(state.provider)},
          {"usage", usage_json(state.own_usage)},
          {"charges", usage_json(state.charges)}};
}

Payload first_payload(db::Session& session, const RunId& run) {
  const auto stored = session.value<std::string>(
      "SELECT payload FROM run_events WHERE run_id = ? AND sequence = 1", {run});
  Payload payload = Payload::parse(stored.value_or(""), nullptr, false);
  return payload.is_object() ? payload : Payload::object();
}

}  // namespace

void mark_imported(db::Session& session, const RunId& run,
                   const std::optional<ImportedState>& state) {
  Payload mark = Payload::object();
  session.each("SELECT origin_source, origin_id, last_sequence FROM runs WHERE id = ?", {run},
               [&](const db::Row& row) {
                 mark["source"] = row.text(0);
                 mark["id"] = row.text(1);
                 mark["through"] = row.integer(2);
               });
  if (state) mark["state"] = state_json(*state);
  Payload payload = first_payload(session, run);
  payload["imported"] = std::move(mark);
  session.run("UPDATE run_events SET payload = ? WHERE run_id = ? AND sequence = 1",
              {payload.dump(), run});
}

std::int64_t imported_through(db::Session& session, const RunId& run) {
  const Payload payload = first_payload(session, run);
  const auto mark = payload.find("imported");
  return mark == payload.end() || !mark->is_object() ? 0 : integer(*mark, "through").value_or(0);
}

std::optional<ImportedState> read_imported_state(const Payload& payload) {
  const auto mark = payload.find("imported");
  if (mark == payload.end() || !mark->is_object()) return std::nullopt;
  const auto state = mark->find("state");
  if (state == mark->end() || !state->is_object()) return std::nullopt;
  return ImportedState{
      .through = integer(*mark, "through").value_or(0),
      .lifecycle = word<RunLifecycle>(*state, "lifecycle").value_or(RunLifecycle::suspended),
      .outcome = word<RunOutcome>(*state, "outcome"),
      .reason_code = word<RunReason>(*state, "reason_code"),
      .outcome_text = text(*state, "outcome_text"),
      .provider = text(*state, "provider"),
      .own_usage = usage(*state, "usage"),
      .charges = usage(*state, "charges")};
}

}  // namespace threadstore::state
