#pragma once

#include <string>
#include <vector>

namespace threadstore::cli {

/// Signals and descriptors as the program wants them: Ctrl-C ends it with 130 (the store survives
/// that as it survives a crash), a closed pipe is an error of the write, and descriptors 0 to 2 are
/// taken, so that no database ever becomes "standard output".
void prepare_process();

/// Runs the command that the arguments (without the program's name) ask for; returns the exit code.
int run(const std::vector<std::string>& arguments);

}  // namespace threadstore::cli
