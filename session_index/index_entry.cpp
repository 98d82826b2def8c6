#include "session_index/index_entry.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/rfc3339.h"
#include "base/utf8.h"
#include "threadstore/error.h"

namespace threadstore::session_index {
namespace {

constexpr std::uint64_t every_byte = 0x0101010101010101;
constexpr std::uint64_t high_bits = every_byte * 0x80;

/// Whether one of eight bytes ends a plain string: a quote, a backslash or a control character.
/// Most of a line is inside of strings: this is where the first look-up's time goes.
constexpr bool has_end_or_escape(std::uint64_t eight) {
  const auto below = [](std::uint64_t bytes, std::uint64_t bound) {  // bound: at most 0x80
    return (bytes - every_byte * bound) & ~bytes & high_bits;
  };
  const auto equal = [&](unsigned char byte) { return below(eight ^ every_byte * byte, 1); };
  return (below(eight, 0x20) | equal('"') | equal('\\')) != 0;
}

/// Takes a plain line apart from its front; every step says whether it found what it asks for.
class PlainReader {
 public:
  explicit PlainReader(std::string_view line) : at_(line.data()), end_(at_ + line.size()) {}

  bool literal(std::string_view expected) {
    if (static_cast<std::size_t>(end_ - at_) < expected.size() ||
        std::string_view(at_, expected.size()) != expected) {
      return false;
    }
    at_ += expected.size();
    return true;
  }

  /// A string without escapes.
  bool string(std::string_view& value) {
    if (at_ == end_ || *at_ != '"') return false;
    const char* begin = ++at_;
    std::uint64_t seen = 0;
    for (std::uint64_t eight = 0; end_ - at_ >= 8; at_ += 8) {
      std::memcpy(&eight, at_, sizeof eight);
      if (has_end_or_escape(eight)) break;
      seen |= eight;
    }
    for (;; ++at_) {
      if (at_ == end_) return false;
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte == '"') break;
      if (byte < 0x20 || byte == '\\') return false;
      seen |= byte;
    }
    value = std::string_view(begin, static_cast<std::size_t>(at_ - begin));
    ++at_;
    return (seen & high_bits) == 0 || !base::find_invalid_utf8(value);
  }

  bool string_or_null(std::optional<std::string_view>& value) {
    if (literal("null")) return true;
    std::string_view text;
    if (!string(text)) return false;
    value = text;
    return true;
  }

  bool integer(std::int64_t& value) {
    const auto parsed = std::from_chars(at_, end_, value);
    if (parsed.ec != std::errc()) return false;
    const char* first = *at_ == '-' ? at_ + 1 : at_;
    at_ = parsed.ptr;
    return *first != '0' || at_ == first + 1;  // JSON has no leading zeros
  }

  bool at_end() const { return at_ == end_; }

 private:
  const char* at_;
  const char* end_;
};

std::optional<std::string> optional_string(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<std::string>();
}

/// Nothing when neither form fits.
std::optional<UnixSeconds> time_of(const nlohmann::json& object) {
  const auto found = object.find("updated_at");
  if (found == object.end()) return std::nullopt;
  if (found->is_string()) return base::parse_rfc3339(found->get_ref<const std::string&>());
  if (!found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return found->get<std::int64_t>();
}

/// Nothing, and the reason, when the object is not an entry.
std::optional<IndexEntry> read_object(const nlohmann::json& object, std::string& reason) {
  if (!object.is_object()) {
    reason = "not a JSON object";
    return std::nullopt;
  }
  const auto id = object.contains("thread_id") ? object.find("thread_id") : object.find("id");
  if (id == object.end() || !id->is_string() || id->get_ref<const std::string&>().empty()) {
    reason = "no thread id";
    return std::nullopt;
  }
  for (const char* key : {"thread_name", "rollout_path"}) {
    const auto found = object.find(key);
    if (found != object.end() && !found->is_null() && !found->is_string()) {
      reason = std::string(key) + " is not a string";
      return std::nullopt;
    }
  }
  const std::optional<UnixSeconds> updated_at = time_of(object);
  if (!updated_at) {
    reason = "no usable updated_at";
    return std::nullopt;
  }
  const auto mark = object.find("deleted");
  const bool marked = mark != object.end() && mark->is_boolean();
  return IndexEntry{.thread_id = ThreadId(id->get<std::string>()),
                    .thread_name = optional_string(object, "thread_name"),
                    .updated_at = *updated_at,
                    .rollout_path = optional_string(object, "rollout_path"),
                    .deleted = marked && mark->get<bool>(),
                    .revived = marked && !mark->get<bool>()};
}

std::string quoted(std::string_view text, const char* what) {
  if (const auto offset = base::find_invalid_utf8(text)) {
    throw Error(ErrorCode::invalid_argument, std::string("the ") + what +
                                                 " of an index entry is not valid UTF-8 at byte " +
                                                 std::to_string(*offset));
  }
  return nlohmann::json(text).dump();
}

}  // namespace

std::optional<PlainLine> scan_plain_line(std::string_view line) {
  PlainReader in(line);
  PlainLine plain;
  const bool fits = in.literal(R"({"thread_id":)") && in.string(plain.thread_id) &&
                    in.literal(R"(,"thread_name":)") && in.string_or_null(plain.thread_name) &&
                    in.literal(R"(,"updated_at":)") && in.integer(plain.updated_at) &&
                    in.literal(R"(,"rollout_path":)") && in.string_or_null(plain.rollout_path);
  if (!fits || plain.thread_id.empty()) return std::nullopt;
  plain.deleted = in.literal(R"(,"deleted":true)");
  plain.revived = !plain.deleted && in.literal(R"(,"deleted":false)");
  if (!in.literal("}") || !in.at_end()) return std::nullopt;
  return plain;
}

std::optional<IndexEntry> parse_line(std::string_view line, std::string* reason) {
  if (const std::optional<PlainLine> plain = scan_plain_line(line)) {
    return IndexEntry{.thread_id = ThreadId(std::string(plain->thread_id)),
                      .thread_name = std::optional<std::string>(plain->thread_name),
                      .updated_at = plain->updated_at,
                      .rollout_path = std::optional<std::string>(plain->rollout_path),
                      .deleted = plain->deleted,
                      .revived = plain->revived};
  }
  std::string fault;
  std::optional<IndexEntry> entry;
  try {
    entry = read_object(base::parse_json(line, "the line"), fault);
  } catch (const Error& e) {
    fault = e.what();
  }
  if (!entry && reason != nullptr) *reason = fault;
  return entry;
}

std::string format_line(const IndexEntry& entry) {
  if (entry.thread_id.empty()) {
    throw Error(ErrorCode::invalid_argument, "an index entry needs a thread id");
  }
  const auto or_null = [](const std::optional<std::string>& text, const char* what) {
    return text ? quoted(*text, what) : "null";
  };
  std::string line = R"({"thread_id":)" + quoted(entry.thread_id.str(), "thread id");
  line += R"(,"thread_name":)" + or_null(entry.thread_name, "thread name");
  line += R"(,"updated_at":)" + std::to_string(entry.updated_at);
  line += R"(,"rollout_path":)" + or_null(entry.rollout_path, "rollout path");
  if (entry.deleted) line += R"(,"deleted":true)";
  if (entry.revived && !entry.deleted) line += R"(,"deleted":false)";
  return line + "}\n";
}

}  // namespace threadstore::session_index
