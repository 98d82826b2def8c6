#include "base/lock_holders.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace threadstore::base {
namespace {

/// How /proc/locks names a file: "fe:01:1234", the device numbers in hexadecimal.
std::string lock_name(const struct stat& status) {
  char text[64];
  std::snprintf(text, sizeof text, "%02x:%02x:%llu", major(status.st_dev), minor(status.st_dev),
                static_cast<unsigned long long>(status.st_ino));
  return text;
}

std::string program_of(long pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(in, name);
  return name;
}

/// "124 124" or "0 EOF", the last fields of a line.
bool overlap(const std::string& first, const std::string& last, ByteRange wanted) {
  const std::uint64_t from = std::strtoull(first.c_str(), nullptr, 10);
  const std::uint64_t to = last == "EOF" ? UINT64_MAX : std::strtoull(last.c_str(), nullptr, 10);
  return from <= wanted.last && to >= wanted.first;
}

}  // namespace

std::string describe_lock_holders(const std::filesystem::path& file, ByteRange bytes) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  const std::string wanted = lock_name(status);
  std::set<long> pids;
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "1: POSIX ADVISORY WRITE 4711 fe:01:1234 0 EOF"; a line with "->" is somebody who waits.
    std::istringstream fields(line);
    std::string number, kind, mode, access, name, first, last;
    long pid = 0;
    if (fields >> number >> kind >> mode >> access >> pid >> name >> first >> last &&
        name == wanted && pid > 0 && overlap(first, last, bytes)) {
      pids.insert(pid);
    }
  }
  std::string text;
  for (const long pid : pids) {
    if (!text.empty()) text += ", ";
    text += "process " + std::to_string(pid);
    if (const std::string program = program_of(pid); !program.empty()) text += " (" + program + ")";
  }
  return text;
}

}  // namespace threadstore::base
