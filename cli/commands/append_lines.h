#pragma once

#include <cstddef>
#include <string>

#include "cli/app/invocation.h"

namespace threadstore::cli {

/// `append --jsonl`: stores the lines of a file (`-`: standard input) in commits of at most `batch`
/// lines and 4 MiB. A bad line stops: the lines before it are stored, it and those behind are not,
/// and the `invalid_argument` thrown names it and how many were stored.
void append_lines(Invocation& call, const Thread& thread, const std::string& file,
                  std::size_t batch);

}  // namespace threadstore::cli
