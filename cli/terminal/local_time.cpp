#include "cli/terminal/local_time.h"

#include <time.h>

#include <array>
#include <optional>

namespace threadstore::cli {
namespace {

std::optional<tm> local(UnixSeconds when) {
  const time_t value = when;
  tm parts{};
  if (::localtime_r(&value, &parts) == nullptr) return std::nullopt;
  return parts;
}

std::string format(const char* layout, const tm& parts) {
  std::array<char, 64> text{};
  const std::size_t length = ::strftime(text.data(), text.size(), layout, &parts);
  return {text.data(), length};
}

}  // namespace

std::string short_local_time(UnixSeconds when, UnixSeconds now) {
  const std::optional<tm> then = local(when);
  const std::optional<tm> today = local(now);
  if (!then || !today) return std::to_string(when);  // beyond what a calendar year can say
  if (then->tm_year != today->tm_year) return format("%Y-%m-%d %H:%M", *then);
  if (then->tm_yday != today->tm_yday) return format("%e %b %H:%M", *then);
  return format("%H:%M", *then);
}

}  // namespace threadstore::cli
