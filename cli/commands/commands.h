#pragma once

#include <span>

#include "cli/app/command.h"

namespace threadstore::cli {

// One function per verb: it adds the verb's options to the app and returns the action. A noun gives
// the table of its verbs instead (`index_verbs`).

Action declare_list(CLI::App& app);
Action declare_new(CLI::App& app);
Action declare_paths(CLI::App& app);

}  // namespace threadstore::cli
