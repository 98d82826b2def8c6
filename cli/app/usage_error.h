#pragma once

#include <string>

#include "threadstore/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class ParseError;
}  // namespace CLI

namespace threadstore::cli {

/// Says in the program's own words what was wrong with the arguments of `name` ("index find"), and
/// where the right ones are explained.
Error usage_error(const CLI::App& app, const CLI::ParseError& error, const std::string& name);

}  // namespace threadstore::cli
