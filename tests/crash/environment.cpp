// Before any test of the program: SQLite's memory that can fail, the seams to the disk, and no log
// lines about the damage that thousands of crashes leave.
#include "tests/support/fault_injector.h"
#include "threadstore/logging.h"

namespace threadstore::test {
namespace {

[[maybe_unused]] const bool in_place = [] {
  install_failing_memory();  // first: SQLite takes it before its first use only
  install_disk_seams();
  set_log_level(LogLevel::off);
  return true;
}();

}  // namespace
}  // namespace threadstore::test
