#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "threadstore/doctor.h"
#include "threadstore/time.h"

namespace threadstore::state {

/// A file of mode 0600 in the making, under a temporary name ("state.db.1.4711.tmp") in the
/// directory where it will stand; removed at the end of this object's life unless it was published.
class UnpublishedFile {
 public:
  explicit UnpublishedFile(const std::filesystem::path& target);
  ~UnpublishedFile();
  UnpublishedFile(const UnpublishedFile&) = delete;
  UnpublishedFile& operator=(const UnpublishedFile&) = delete;

  const std::filesystem::path& path() const noexcept { return temporary_; }

  /// Makes the content durable; returns its size. When no connection has the file open any more.
  std::int64_t sync();

  /// Gives it its name, durably; after `sync`. Without `overwrite` a file of
  /// that name, also one that was made this moment, is `conflict`.
  void publish(bool overwrite);

 private:
  const std::filesystem::path target_;
  const std::filesystem::path temporary_;
};

[[noreturn]] void throw_exists(const std::filesystem::path& file);

/// Checks a copy's content; nobody else may know the file. Returns the checks that failed. Throws
/// `damaged` when SQLite finds the file broken, `newer_format`, `invalid_argument` when it is
/// another program's, and `io` when the system does not let it be read, which says nothing of it.
std::vector<Check> verify_copy(const std::filesystem::path& file);

/// "<database>.<what>-20260301T100000Z", a name that is free: where the store is kept before it
/// changes.
std::filesystem::path name_beside(const std::filesystem::path& database, const std::string& what,
                                  UnixMillis now);

}  // namespace threadstore::state
