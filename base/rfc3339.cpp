#include "base/rfc3339.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>

namespace threadstore::base {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the text apart from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool number(std::size_t digits, int& value) {
    if (rest_.size() < digits) return false;
    value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (!is_digit(c)) return false;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return true;
  }

  bool one_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return false;
    last_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }

  void skip_digits() {
    while (!rest_.empty() && is_digit(rest_.front())) rest_.remove_prefix(1);
  }

  char last() const { return last_; }
  bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  char last_ = '\0';
};

}  // namespace

std::optional<UnixSeconds> parse_rfc3339(std::string_view text) {
  Reader in(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const bool date_and_time = in.number(4, year) && in.one_of("-") && in.number(2, month) &&
                             in.one_of("-") && in.number(2, day) && in.one_of("Tt ") &&
                             in.number(2, hour) && in.one_of(":") && in.number(2, minute) &&
                             in.one_of(":") && in.number(2, second);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  // 60 is a leap second, which Unix time folds into the next one.
  if (!date_and_time || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  if (in.one_of(".")) {
    if (!in.at_digit()) return std::nullopt;
    in.skip_digits();
  }
  int offset_hours = 0, offset_minutes = 0, sign = 0;
  if (!in.one_of("Zz")) {
    if (!in.one_of("+-")) return std::nullopt;
    sign = in.last() == '+' ? 1 : -1;
    if (!in.number(2, offset_hours) || !in.one_of(":") || !in.number(2, offset_minutes) ||
        offset_hours > 23 || offset_minutes > 59) {
      return std::nullopt;
    }
  }
  if (!in.at_end()) return std::nullopt;
  const UnixSeconds days = std::chrono::sys_days(date).time_since_epoch().count();
  const UnixSeconds local = days * 86400 + hour * 3600 + minute * 60 + second;
  return local - sign * (offset_hours * 3600 + offset_minutes * 60);
}

std::string format_rfc3339(UnixMillis time) {
  using std::chrono::floor;
  constexpr UnixMillis first = -62'167'219'200'000;  // 0000-01-01T00:00:00Z
  constexpr UnixMillis last = 253'402'300'799'999;   // 9999-12-31T23:59:59.999Z
  const std::chrono::sys_time<std::chrono::milliseconds> moment{
      std::chrono::milliseconds(std::clamp(time, first, last))};
  const auto days = floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date{days};
  const auto in_day = (moment - days).count();
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(in_day / 3'600'000),
                static_cast<int>(in_day / 60'000 % 60), static_cast<int>(in_day / 1000 % 60),
                static_cast<int>(in_day % 1000));
  return text.data();
}

}  // namespace threadstore::base
