#include "cli/app/exit_code.h"

namespace threadstore::cli {

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return exit_usage;
    case ErrorCode::not_found:
      return exit_not_found;
    case ErrorCode::conflict:
      return exit_conflict;
    case ErrorCode::busy:
      return exit_busy;
    case ErrorCode::damaged:
      return exit_damaged;
    case ErrorCode::newer_format:
      return exit_newer_format;
    case ErrorCode::io:
    case ErrorCode::unknown_outcome:
      return exit_io;
  }
  return exit_failed;
}

}  // namespace threadstore::cli
