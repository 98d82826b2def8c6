#include "cli/resolve/message_ref.h"

#include <charconv>

#include "cli/output/thread_table.h"

namespace threadstore::cli {
namespace {

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

[[noreturn]] void not_a_message(const std::string& given) {
  throw Error(ErrorCode::invalid_argument,
              "'" + given +
                  "' is not a message; write its id (`threadstore show` prints them), "
                  "@leaf, or @-N for N before the leaf");
}

MessageId before_leaf(const StateStore& store, const Thread& thread, std::int64_t steps,
                      const std::string& given) {
  std::optional<MessageId> found;
  std::int64_t passed = 0;
  store.messages().walk(thread.id, std::nullopt, [&](const Message& message) {
    if (passed++ < steps) return true;
    found = message.id;
    return false;
  });
  if (found) return *found;
  throw Error(ErrorCode::not_found, "there is no message " + given + ": the active branch of " +
                                        thread.id.str() + " has " + std::to_string(passed) +
                                        (passed == 1 ? " message" : " messages"));
}

}  // namespace

MessageId parse_message_id(const std::string& given) {
  const auto number = parse_count(given);
  if (!number) not_a_message(given);
  return MessageId{*number};
}

MessageId find_message(const StateStore& store, const Thread& thread, const std::string& given) {
  if (given == "@leaf") return before_leaf(store, thread, 0, given);
  if (given.starts_with("@-")) {
    const auto steps = parse_count(std::string_view(given).substr(2));
    if (!steps) not_a_message(given);
    return before_leaf(store, thread, *steps, given);
  }
  return parse_message_id(given);
}

std::optional<MessageId> find_message(const StateStore& store, const Thread& thread,
                                      const std::optional<std::string>& given) {
  if (!given) return std::nullopt;
  return find_message(store, thread, *given);
}

std::optional<MessageId> find_message_or_none(const StateStore& store, const Thread& thread,
                                              const std::string& given) {
  if (given == "none") return std::nullopt;
  return find_message(store, thread, given);
}

}  // namespace threadstore::cli
