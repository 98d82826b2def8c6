#include "base/file_names.h"

#include <cerrno>

#include "base/files.h"
#include "base/system.h"

namespace threadstore::base {

void rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (system_calls().rename(from.c_str(), to.c_str()) != 0) throw_io("make", to, errno);
}

bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (system_calls().rename_to_free(from.c_str(), to.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) throw_io("make", to, errno);
  if (std::filesystem::exists(std::filesystem::symlink_status(to))) return false;
  rename_file(from, to);
  return true;
}

bool add_name(const std::filesystem::path& file, const std::filesystem::path& name) {
  return system_calls().link(file.c_str(), name.c_str()) == 0;
}

bool remove_name(const std::filesystem::path& name) {
  return system_calls().unlink(name.c_str()) == 0;
}

}  // namespace threadstore::base
