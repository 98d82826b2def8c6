#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "tests/bench/row.h"

namespace threadstore::bench {

/// Prints the lines in columns: work, ours, raw, ratio, target, met or not, canary.
void print_table(std::ostream& out, const std::vector<Line>& lines);

/// The same as JSON: an object with `lines`, each with the fields of `Line`.
void write_json(const std::filesystem::path& file, const std::vector<Line>& lines);

}  // namespace threadstore::bench
