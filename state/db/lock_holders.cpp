#include "state/db/lock_holders.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace threadstore::db {
namespace {

std::string program_of(pid_t pid) {
  std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(comm, name);
  return name;
}

// One line: "3: POSIX  ADVISORY  READ 4711 08:01:131 124 124". The device is hexadecimal, the last
// byte may be "EOF". A line of somebody who waits has "->" after the number: not a holder.
bool parse_holder(const std::string& line, const struct stat& file, const LockQuery& query,
                  pid_t& pid) {
  std::istringstream words(line);
  std::string number, family, kind, access, place, first, last;
  if (!(words >> number >> family >> kind >> access >> pid >> place >> first >> last)) return false;
  if (pid <= 0 || family != (query.flock ? "FLOCK" : "POSIX")) return false;
  unsigned major_number = 0, minor_number = 0;
  unsigned long long inode = 0;
  if (std::sscanf(place.c_str(), "%x:%x:%llu", &major_number, &minor_number, &inode) != 3) {
    return false;
  }
  if (inode != file.st_ino || makedev(major_number, minor_number) != file.st_dev) return false;
  const std::uint64_t from = std::strtoull(first.c_str(), nullptr, 10);
  const std::uint64_t to = last == "EOF" ? UINT64_MAX : std::strtoull(last.c_str(), nullptr, 10);
  return query.flock || (from <= query.last_byte && to >= query.first_byte);
}

}  // namespace

std::vector<LockHolder> lock_holders(const std::filesystem::path& file, const LockQuery& query) {
  std::vector<LockHolder> holders;
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return holders;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    pid_t pid = 0;
    if (!parse_holder(line, status, query, pid)) continue;
    const auto same = [pid](const LockHolder& holder) { return holder.pid == pid; };
    if (std::none_of(holders.begin(), holders.end(), same)) {
      holders.push_back({.pid = pid, .program = program_of(pid)});
    }
  }
  return holders;
}

std::string describe(const std::vector<LockHolder>& holders) {
  std::string text;
  for (const LockHolder& holder : holders) {
    if (!text.empty()) text += ", ";
    if (holder.pid == ::getpid()) {
      text += "this process";
    } else {
      text += "process " + std::to_string(holder.pid);
      if (!holder.program.empty()) text += " (" + holder.program + ")";
    }
  }
  return text;
}

}  // namespace threadstore::db
