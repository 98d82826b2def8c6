#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/crash_disk.h"

namespace threadstore::test {

/// Which crash: before which of the script's changes, and how.
struct CrashPoint {
  std::size_t position = 0;
  CrashStyle style = CrashStyle::lose_all;
  std::uint64_t choice = 0;  ///< seeds what is kept and lost
};

/// A crash of a script as THREADSTORE_CRASH_REPLAY names it.
struct CrashName {
  std::uint64_t seed = 0;
  CrashPoint point;

  std::string text() const {
    return std::to_string(seed) + ":" + std::to_string(point.position) + ":" +
           std::to_string(static_cast<int>(point.style)) + ":" + std::to_string(point.choice);
  }
  static CrashName parse(const std::string& text) {
    CrashName name;
    int style = 0;
    char colon = ' ';
    std::istringstream words(text);
    words >> name.seed >> colon >> name.point.position >> colon >> style >> colon >>
        name.point.choice;
    name.point.style = static_cast<CrashStyle>(style);
    return name;
  }
};

inline std::uint64_t number_setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

inline CrashStyle any_style(std::mt19937_64& random) {
  constexpr std::array styles{CrashStyle::lose_all, CrashStyle::keep_all,  CrashStyle::in_order,
                              CrashStyle::in_order, CrashStyle::scattered, CrashStyle::scattered,
                              CrashStyle::scattered};
  return styles.at(random() % styles.size());
}

/// What a sweep looks at, and when it has seen enough.
struct Sweep {
  std::uint64_t seed = 1;      ///< of the script
  std::size_t states = 500;    ///< about so many crashes, spread evenly; at most one per position
  std::size_t complaints = 3;  ///< stops after so many
};

/// Crashes a script (`changes()`, and `crash(point)` that says what is wrong) at many positions.
/// Gives the complaints, each with the way to replay it.
template <class Run>
std::vector<std::string> sweep(Run& run, const Sweep& how) {
  std::mt19937_64 random(how.seed);
  const std::size_t stride = std::max<std::size_t>(1, run.changes() / how.states);
  std::vector<std::string> complaints;
  for (std::size_t at = random() % stride;
       at <= run.changes() && complaints.size() < how.complaints; at += stride) {
    const CrashPoint point{.position = at, .style = any_style(random), .choice = random()};
    if (const std::optional<std::string> complaint = run.crash(point)) {
      complaints.push_back("THREADSTORE_CRASH_REPLAY=" + CrashName{how.seed, point}.text() + " (" +
                           std::string(to_string(point.style)) + ")" + *complaint);
    }
  }
  return complaints;
}

}  // namespace threadstore::test
