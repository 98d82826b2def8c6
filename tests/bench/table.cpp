#include "tests/bench/table.h"

#include <array>
#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

namespace threadstore::bench {
namespace {

/// Three significant digits, never in scientific notation.
std::string short_number(double value) {
  std::ostringstream text;
  const int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string with_unit(double value, const std::string& unit) {
  if (unit == "us" && value >= 1000) return short_number(value / 1000) + " ms";
  if (unit == "us" && value > 0 && value < 0.1) return short_number(value * 1000) + " ns";
  return short_number(value) + (unit == "us" ? " us" : unit.empty() ? "" : " " + unit);
}

std::string target_of(const Line& line) {
  switch (line.goal.kind) {
    case Goal::Kind::speed_at_least:
      return ">= " + short_number(line.goal.limit) + " x raw speed";
    case Goal::Kind::time_at_most:
      return "<= " + short_number(line.goal.limit) + " x raw time";
    case Goal::Kind::value_at_most:
      return "<= " + with_unit(line.goal.limit, line.unit);
    case Goal::Kind::value_at_least:
      return ">= " + with_unit(line.goal.limit, line.unit);
    case Goal::Kind::none:
      return "-";
  }
  return "-";
}

std::string verdict_of(const Line& line) {
  if (line.goal.kind == Goal::Kind::none) return "-";
  return line.met() ? "met" : "NOT MET";
}

using Cells = std::array<std::string, 7>;

Cells cells_of(const Line& line) {
  return {line.work,
          with_unit(line.ours, line.unit),
          line.raw ? with_unit(*line.raw, line.unit) : "-",
          line.ratio ? short_number(*line.ratio) : "-",
          target_of(line),
          verdict_of(line),
          line.canary > 0 ? with_unit(line.canary, "us") : "-"};
}

}  // namespace

void print_table(std::ostream& out, const std::vector<Line>& lines) {
  std::vector<Cells> rows{{"work", "ours", "raw", "ratio", "target", "", "canary"}};
  for (const Line& line : lines) rows.push_back(cells_of(line));
  std::array<std::size_t, 7> widths{};
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Cells& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      const bool number = i >= 1 && i <= 3;
      text += (i == 0 ? "" : "  ") + (number ? gap + row[i] : row[i] + gap);
    }
    out << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  }
  const auto missed =
      std::count_if(lines.begin(), lines.end(), [](const Line& line) { return !line.met(); });
  out << '\n'
      << lines.size() << " figures, " << missed << " targets not met. Canary: 1 KiB written and "
      << "synced between the rounds; far above its usual value the disk was busy.\n";
}

void write_json(const std::filesystem::path& file, const std::vector<Line>& lines) {
  nlohmann::ordered_json document;
  document["lines"] = nlohmann::ordered_json::array();
  for (const Line& line : lines) {
    nlohmann::ordered_json object{{"work", line.work}, {"unit", line.unit}, {"ours", line.ours}};
    object["raw"] = line.raw ? nlohmann::ordered_json(*line.raw) : nlohmann::ordered_json();
    object["ratio"] = line.ratio ? nlohmann::ordered_json(*line.ratio) : nlohmann::ordered_json();
    object["target"] = target_of(line);
    object["met"] = line.goal.kind == Goal::Kind::none ? nlohmann::ordered_json()
                                                       : nlohmann::ordered_json(line.met());
    object["canary_us"] = line.canary;
    document["lines"].push_back(std::move(object));
  }
  std::ofstream out(file);
  out << document.dump(2) << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace threadstore::bench
