#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/files.h"

namespace threadstore::state {

/// The lock on one slot: a byte of `state.db.leases`, held by the open file description of this
/// object (OFD lock). So it excludes other stores of this process as well as other processes, and
/// the kernel frees it when the process ends, however it ends.
class LeaseLock {
 public:
  explicit LeaseLock(base::File file) : file_(std::move(file)) {}

 private:
  base::File file_;  // closing it frees the lock and no other: OFD locks are not the process's
};

/// The file whose bytes say which lease holders live. Its content is empty for ever; locks reach
/// beyond the end of a file. Never opened through a symbolic link, never removed. Thread-safe.
class LeaseFile {
 public:
  explicit LeaseFile(std::filesystem::path file);
  /// For an in-memory store: an anonymous file of this process.
  static std::shared_ptr<LeaseFile> anonymous();

  /// The slot's lock; null when a living holder has it. Makes the file when missing. Throws `io`.
  std::unique_ptr<LeaseLock> try_lock(std::int64_t slot) const;

  /// Whether somebody holds the slot's lock. Creates nothing. When the file exists but cannot be
  /// opened nobody can tell: then the holder counts as alive.
  bool is_held(std::int64_t slot) const;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  LeaseFile(std::filesystem::path file, base::File memory);

  std::filesystem::path path_;
  std::optional<base::File> memory_;
};

}  // namespace threadstore::state
