#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace threadstore::db {

/// Where several machines can have one file mapped without seeing each other's writes. SQLite's
/// WAL mode corrupts a database there without a word.
struct NetworkFileSystem {
  std::string type;  // "nfs4", "cifs", "9p", "virtiofs", "fuse.sshfs" …
  std::filesystem::path mount_point;

  bool operator==(const NetworkFileSystem&) const = default;
};

/// The network file system that holds `path` (or will: what is missing is looked for in its
/// parent); nothing for a local one. Asks statfs(2) and /proc/self/mountinfo. Never throws on a
/// path that cannot be looked at: that is the open's business.
std::optional<NetworkFileSystem> network_file_system(const std::filesystem::path& path);

/// The decision alone: `magic` as statfs tells it (0: unknown), `mountinfo` as in proc(5), `path`
/// absolute and real. FUSE carries local and remote file systems; its name in mountinfo decides.
std::optional<NetworkFileSystem> network_file_system(std::uint32_t magic,
                                                     std::string_view mountinfo,
                                                     const std::filesystem::path& path);

}  // namespace threadstore::db
