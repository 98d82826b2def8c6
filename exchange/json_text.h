#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace threadstore::exchange {

/// A value inside JSON text that is known to be valid. It is looked into without being converted,
/// so that what is kept of it is kept byte for byte, and large values cost only the scan. Refers to
/// the text, which must outlive it. A value that is not there answers as null.
class JsonText {
 public:
  JsonText() = default;
  /// `valid` was checked with base::find_json_fault.
  explicit JsonText(std::string_view valid);

  bool present() const { return !text_.empty(); }
  bool is_null() const { return text_.empty() || text_.front() == 'n'; }
  bool is_object() const { return text_.starts_with('{'); }
  bool is_array() const { return text_.starts_with('['); }
  bool is_string() const { return text_.starts_with('"'); }
  bool is_true() const { return text_ == "true"; }

  /// The text as it stands.
  std::string_view raw() const { return text_; }

  /// The member of that name; absent when this is no object or has none. Of several the last.
  JsonText operator[](std::string_view name) const;

  /// Calls `visit` for each element of an array; nothing for another value.
  void each(const std::function<void(JsonText)>& visit) const;
  /// Calls `visit` for each member of an object.
  void each_member(const std::function<void(std::string_view, JsonText)>& visit) const;

  /// The string; empty when it is none.
  std::string string() const;
  std::optional<std::string> string_or_none() const;
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;

 private:
  std::string_view text_;  ///< without white space around it
};

/// Makes the text of a line valid where that costs little: invalid UTF-8 and halves of surrogate
/// pairs become U+FFFD. Says whether something was replaced.
bool mend_json(std::string& line);

}  // namespace threadstore::exchange
