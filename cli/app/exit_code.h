#pragma once

#include "threadstore/error.h"

namespace threadstore::cli {

/// What the program's exit status says (docs/cli.md).
enum ExitCode : int {
  exit_done = 0,
  exit_failed = 1,
  exit_usage = 2,
  exit_not_found = 3,
  exit_conflict = 4,
  exit_busy = 5,
  exit_damaged = 6,
  exit_newer_format = 7,
  exit_io = 8,
  exit_interrupted = 130,
};

ExitCode exit_code_of(ErrorCode code);

}  // namespace threadstore::cli
