#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace threadstore::cli {

/// Answers a shell's completion script: `words` are those behind the program's name up to the
/// cursor, the last one (maybe empty) being completed. Prints a candidate per line,
/// "word<TAB>explanation", or `:files`, `:directories` where the shell knows better. Never fails:
/// what cannot be found out offers nothing.
void print_candidates(std::ostream& out, const std::vector<std::string>& words);

}  // namespace threadstore::cli
