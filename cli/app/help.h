#pragma once

#include <ostream>
#include <string>

#include "cli/app/command.h"

namespace threadstore::cli {

/// The first steps: what the program prints when it is started without arguments.
void print_first_steps(std::ostream& out);

/// Every command with its summary.
void print_all_commands(std::ostream& out);

/// The verbs of a noun.
void print_verbs(std::ostream& out, const Command& noun);

}  // namespace threadstore::cli
