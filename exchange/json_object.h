#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "exchange/json_rewrite.h"
#include "threadstore/ids.h"

namespace threadstore::exchange {

/// Writes one JSON object on one line, member by member, without building it first: values that are
/// JSON already are put in as they stand.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) {
    begin(name);
    append_json_string(out_, value);
    return *this;
  }
  JsonObject& text(std::string_view name, const std::string& value) {
    return text(name, std::string_view(value));
  }
  JsonObject& text(std::string_view name, const std::optional<std::string>& value) {
    return value ? text(name, std::string_view(*value)) : null(name);
  }
  template <class Tag>
  JsonObject& id(std::string_view name, const std::optional<TextId<Tag>>& value) {
    return value ? text(name, std::string_view(value->str())) : null(name);
  }
  JsonObject& number(std::string_view name, std::int64_t value) {
    return raw(name, std::to_string(value));
  }
  JsonObject& number(std::string_view name, const std::optional<std::int64_t>& value) {
    return value ? number(name, *value) : null(name);
  }
  JsonObject& number(std::string_view name, const std::optional<MessageId>& value) {
    return value ? number(name, to_int(*value)) : null(name);
  }
  JsonObject& boolean(std::string_view name, bool value) {
    return raw(name, value ? "true" : "false");
  }
  JsonObject& null(std::string_view name) { return raw(name, "null"); }

  /// `json` must be valid and on one line.
  JsonObject& raw(std::string_view name, std::string_view json) {
    begin(name);
    out_ += json;
    return *this;
  }

  /// The object so far.
  std::string str() const { return out_ + "}"; }

 private:
  void begin(std::string_view name) {
    if (out_.size() > 1) out_ += ',';
    append_json_string(out_, name);
    out_ += ':';
  }

  std::string out_ = "{";
};

}  // namespace threadstore::exchange
