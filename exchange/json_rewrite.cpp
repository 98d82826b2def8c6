#include "exchange/json_rewrite.h"

#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/utf8.h"
#include "threadstore/messages.h"

namespace threadstore::exchange {
namespace {

using Json = nlohmann::json;

/// Writes what the parser reads.
class Rewriter final : public nlohmann::json_sax<Json> {
 public:
  explicit Rewriter(const StringRewrite& rewrite) : rewrite_(rewrite) {}

  std::string take() { return std::move(out_); }

  bool null() override { return put("null"); }
  bool boolean(bool value) override { return put(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return put(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return put(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return put(text); }
  bool binary(binary_t&) override { return false; }
  bool string(string_t& value) override {
    separate();
    append_json_string(out_, rewrite_(levels_.empty() ? "" : levels_.back().name, value));
    return true;
  }
  bool key(string_t& name) override {
    separate();
    append_json_string(out_, name);
    out_ += ':';
    levels_.back().name = name;
    levels_.back().after_key = true;
    return true;
  }
  bool start_object(std::size_t) override { return open('{', ""); }
  bool start_array(std::size_t) override {
    return open('[', levels_.empty() ? std::string() : levels_.back().name);
  }
  bool end_object() override { return close('}'); }
  bool end_array() override { return close(']'); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Level {
    std::string name;  ///< of the member that is being read; an array has that of its own member
    bool first = true;
    bool after_key = false;
  };

  void separate() {
    if (levels_.empty()) return;
    Level& level = levels_.back();
    if (level.after_key) {
      level.after_key = false;
      return;
    }
    if (!level.first) out_ += ',';
    level.first = false;
  }
  bool put(std::string_view text) {
    separate();
    out_ += text;
    return true;
  }
  bool open(char bracket, std::string name) {
    separate();
    out_ += bracket;
    levels_.push_back({.name = std::move(name)});
    return true;
  }
  bool close(char bracket) {
    out_ += bracket;
    levels_.pop_back();
    return true;
  }

  const StringRewrite& rewrite_;
  std::string out_;
  std::vector<Level> levels_;
};

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  if (base::find_invalid_utf8(text)) return append_json_string(out, to_valid_utf8(text));
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out += text.substr(done, at - done);
    done = at + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out += digits[c >> 4U];
        out += digits[c & 15U];
    }
  }
  out += text.substr(done);
  out += '"';
}

std::string rewrite_json(std::string_view text, const StringRewrite& rewrite) {
  Rewriter rewriter(rewrite);
  Json::sax_parse(text, &rewriter);
  return rewriter.take();
}

}  // namespace threadstore::exchange
