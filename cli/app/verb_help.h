#pragma once

#include <ostream>
#include <string>

#include "cli/app/command.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace threadstore::cli {

/// Explains one verb: summary, usage, arguments, options by group, an example. `name` is what
/// stands behind `threadstore` ("index find"); `app` has its options declared.
void print_verb_help(std::ostream& out, const Command& command, const std::string& name,
                     const CLI::App& app);

}  // namespace threadstore::cli
