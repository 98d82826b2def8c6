#pragma once

#include <vector>

#include "cli/output/json.h"
#include "threadstore/doctor.h"

namespace threadstore::cli {

/// [{"name","status","detail","advice"}…], as docs/cli.md describes it.
Json checks_json(const std::vector<Check>& checks);

}  // namespace threadstore::cli
