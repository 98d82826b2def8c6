#include "tests/support/fault_injector.h"

#include <sqlite3.h>

namespace threadstore::test {
namespace {

struct MemoryFault {
  bool armed = false;
  std::size_t nth = 0;
  bool for_ever = false;
  std::size_t seen = 0;
  std::size_t refused = 0;
};
MemoryFault memory;
sqlite3_mem_methods system_memory;

bool allocation_refused() {
  if (!memory.armed) return false;
  ++memory.seen;
  if (memory.seen != memory.nth && !(memory.for_ever && memory.seen > memory.nth)) return false;
  ++memory.refused;
  return true;
}

bool below(const std::filesystem::path& path, const std::filesystem::path& directory) {
  return path == directory || path.parent_path() == directory;
}

}  // namespace

std::string describe(const Fault& fault) {
  return std::string(to_string(fault.verb)) + " " + std::to_string(fault.nth) +
         (fault.for_ever ? " and all after it" : "");
}

int FaultInjector::refuse(const DiskCall& call) {
  if (!armed_ || call.verb != fault_.verb || !below(call.path, directory_)) return 0;
  ++seen_;
  if (seen_ != fault_.nth && !(fault_.for_ever && seen_ > fault_.nth)) return 0;
  ++refused_;
  return fault_.error;
}

void install_failing_memory() {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
  static sqlite3_mem_methods failing = system_memory;
  failing.xMalloc = [](int size) {
    return allocation_refused() ? nullptr : system_memory.xMalloc(size);
  };
  failing.xRealloc = [](void* old, int size) {
    return allocation_refused() ? nullptr : system_memory.xRealloc(old, size);
  };
  sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
}

void fail_allocation(std::size_t nth, bool for_ever) {
  memory = {.armed = true, .nth = nth, .for_ever = for_ever};
}

std::size_t stop_failing_allocations() {
  memory.armed = false;
  return memory.refused;
}

}  // namespace threadstore::test
