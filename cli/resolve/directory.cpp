#include "cli/resolve/directory.h"

#include <filesystem>

#include "threadstore/error.h"

namespace threadstore::cli {

std::string real_directory(const std::string& path) {
  std::error_code failed;
  auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
  if (failed) real = std::filesystem::absolute(path).lexically_normal();
  if (!real.has_filename() && real.has_relative_path()) real = real.parent_path();
  return real.string();
}

std::string current_directory() {
  std::error_code failed;
  const auto here = std::filesystem::current_path(failed);
  if (failed) {
    throw Error(IoReason::other, "cannot tell the current directory: " + failed.message() +
                                     "; change to one that exists, or name a thread or --cwd");
  }
  return here.string();
}

}  // namespace threadstore::cli
