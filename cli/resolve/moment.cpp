#include "cli/resolve/moment.h"

#include <time.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

#include "threadstore/error.h"

namespace threadstore::cli {
namespace {

constexpr std::int64_t kLatest = 253'402'300'799;  // 9999-12-31T23:59:59Z

/// Reads fixed fields from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool done() const { return text_.empty(); }
  bool literal(char expected) {
    if (text_.empty() || text_.front() != expected) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool any_of(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<int> digits(std::size_t count) {
    if (text_.size() < count) return std::nullopt;
    int value = 0;
    for (const char digit : text_.substr(0, count)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      value = value * 10 + (digit - '0');
    }
    text_.remove_prefix(count);
    return value;
  }
  void skip_digits() {
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') text_.remove_prefix(1);
  }
  char front() const { return text_.empty() ? '\0' : text_.front(); }

 private:
  std::string_view text_;
};

std::optional<std::chrono::year_month_day> read_date(Scanner& scan) {
  const auto year = scan.digits(4);
  if (!year || !scan.literal('-')) return std::nullopt;
  const auto month = scan.digits(2);
  if (!month || !scan.literal('-')) return std::nullopt;
  const auto day = scan.digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  return date.ok() ? std::optional(date) : std::nullopt;
}

UnixSeconds local_midnight(const std::chrono::year_month_day& date) {
  struct tm parts {};
  parts.tm_year = static_cast<int>(date.year()) - 1900;
  parts.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  parts.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  parts.tm_isdst = -1;
  return ::mktime(&parts);
}

/// "HH:MM", bounded.
std::optional<int> read_minutes(Scanner& scan) {
  const auto hours = scan.digits(2);
  if (!hours || *hours > 23 || !scan.literal(':')) return std::nullopt;
  const auto minutes = scan.digits(2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return *hours * 60 + *minutes;
}

std::optional<UnixSeconds> read_date_and_time(std::string_view text) {
  Scanner scan(text);
  const auto date = read_date(scan);
  if (!date) return std::nullopt;
  if (scan.done()) return local_midnight(*date);
  if (!scan.any_of("Tt ")) return std::nullopt;
  const auto minutes = read_minutes(scan);
  if (!minutes || !scan.literal(':')) return std::nullopt;
  const auto seconds = scan.digits(2);
  if (!seconds || *seconds > 60) return std::nullopt;
  if (scan.literal('.')) scan.skip_digits();
  int offset = 0;
  const bool behind = scan.front() == '-';
  if (scan.any_of("+-")) {
    const auto distance = read_minutes(scan);
    if (!distance) return std::nullopt;
    offset = behind ? -*distance : *distance;
  } else if (!scan.any_of("Zz")) {
    return std::nullopt;
  }
  if (!scan.done()) return std::nullopt;
  const auto days = std::chrono::sys_days(*date).time_since_epoch().count();
  return static_cast<UnixSeconds>(days) * 86'400 + (*minutes - offset) * 60 + *seconds;
}

std::optional<std::int64_t> seconds_of_unit(std::string_view unit) {
  if (unit == "s") return 1;
  if (unit == "m") return 60;
  if (unit == "h") return 3'600;
  if (unit == "d") return 86'400;
  if (unit == "w") return 604'800;
  return std::nullopt;
}

std::optional<UnixSeconds> read_number(std::string_view text, UnixSeconds now) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || number < 0 || number > kLatest) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.empty()) return number;
  const auto seconds = seconds_of_unit(unit);
  if (!seconds || number > kLatest / *seconds) return std::nullopt;
  return now - number * *seconds;
}

}  // namespace

UnixSeconds parse_moment(const std::string& text, UnixSeconds now) {
  if (const auto moment = read_date_and_time(text)) return *moment;
  if (const auto moment = read_number(text, now)) return *moment;
  throw Error(ErrorCode::invalid_argument,
              "'" + text +
                  "' is not a time; write 2026-03-01T12:00:00Z, 2026-03-01, Unix seconds, or an "
                  "age such as 90m, 2h, 3d");
}

}  // namespace threadstore::cli
