#include "state/db/file_system.h"

#include <sys/vfs.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace threadstore::db {
namespace {

namespace fs = std::filesystem;

// statfs(2), f_type. Cluster file systems on a shared disk count too: mapped pages are per machine.
struct Magic {
  std::uint32_t number;
  std::string_view type;
};
constexpr Magic kNetworkMagic[] = {
    {0x00006969, "nfs"},    {0x0000517b, "smb"},    {0xff534d42, "cifs"},
    {0xfe534d42, "smb3"},   {0x01021997, "9p"},     {0x6a656a63, "fakeowner"},
    {0x5346414f, "afs"},    {0x6b414653, "afs"},    {0x73757245, "coda"},
    {0x0000564c, "ncpfs"},  {0x00c36400, "ceph"},   {0x0bd00bd0, "lustre"},
    {0x0bd00bd1, "lustre"}, {0x47504653, "gpfs"},   {0x7461636f, "ocfs2"},
    {0x01161970, "gfs2"},   {0x786f4256, "vboxsf"}, {0xbacbacbc, "vmhgfs"},
    {0x19830326, "beegfs"}, {0xaad7aaea, "panfs"},  {0x20030528, "orangefs"},
    {0x53464846, "drvfs"},  {0x013111a8, "ibrix"},
};

// The type in mountinfo; "fuse." and the program behind it for FUSE, whose magic says nothing.
constexpr std::string_view kNetworkTypes[] = {
    "nfs",
    "nfs3",
    "nfs4",
    "smbfs",
    "cifs",
    "smb3",
    "9p",
    "virtiofs",
    "drvfs",
    "afs",
    "openafs",
    "auristorfs",
    "coda",
    "ncpfs",
    "ceph",
    "lustre",
    "gpfs",
    "ocfs2",
    "gfs2",
    "vboxsf",
    "vmhgfs",
    "prl_fs",
    "beegfs",
    "panfs",
    "orangefs",
    "pvfs2",
    "davfs",
    "glusterfs",
    "fakeowner",
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.goofys",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.davfs",
    "fuse.davfs2",
    "fuse.curlftpfs",
    "fuse.gvfsd-fuse",
    "fuse.smbnetfs",
    "fuse.mfs",
    "fuse.moosefs",
    "fuse.lizardfs",
    "fuse.juicefs",
    "fuse.JuiceFS",
    "fuse.seaweedfs",
    "fuse.vmhgfs-fuse",
    "fuse.osxfs",
    "fuse.grpcfuse",
    "fuse.mount-s3",
    "fuse.blobfuse",
    "fuse.blobfuse2",
    "fuse.nfs",
    "fuse.wekafs",
};

struct Mount {
  std::string type;
  fs::path point;
};

// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size()) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 +
                                 (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

bool holds(const fs::path& directory, const fs::path& path) {
  const auto end = directory.has_filename() ? directory.end() : std::prev(directory.end());
  return std::mismatch(directory.begin(), end, path.begin(), path.end()).first == end;
}

// Lines are "36 35 98:0 /root /mount/point options [optional]... - type source options". The
// deepest mount point that holds the path; of two on one point the later, which hides the other.
Mount mount_of(std::string_view mountinfo, const fs::path& path) {
  Mount found;
  std::size_t depth = 0;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, point, type;
    for (int skipped = 0; skipped < 4; ++skipped) words >> word;
    words >> point;
    while (words >> word && word != "-") {
    }
    if (!(words >> type)) continue;
    const fs::path mount_point = unescape(point);
    const std::size_t length = mount_point.native().size();
    if (length >= depth && holds(mount_point, path)) {
      depth = length;
      found = {.type = unescape(type), .point = mount_point};
    }
  }
  return found;
}

}  // namespace

std::optional<NetworkFileSystem> network_file_system(std::uint32_t magic,
                                                     std::string_view mountinfo,
                                                     const fs::path& path) {
  Mount mount = mount_of(mountinfo, path);
  if (std::count(std::begin(kNetworkTypes), std::end(kNetworkTypes), mount.type) > 0) {
    return NetworkFileSystem{.type = std::move(mount.type), .mount_point = std::move(mount.point)};
  }
  for (const Magic& known : kNetworkMagic) {
    if (known.number == magic) {
      return NetworkFileSystem{.type = std::string(known.type),
                               .mount_point = std::move(mount.point)};
    }
  }
  return std::nullopt;
}

std::optional<NetworkFileSystem> network_file_system(const fs::path& path) {
  std::error_code failure;
  fs::path real = fs::weakly_canonical(fs::absolute(path, failure), failure);
  if (failure) return std::nullopt;
  struct statfs status {};
  while (::statfs(real.c_str(), &status) != 0 && real.has_relative_path()) {
    real = real.parent_path();
  }
  std::ifstream in("/proc/self/mountinfo");
  const std::string mountinfo{std::istreambuf_iterator<char>(in), {}};
  return network_file_system(static_cast<std::uint32_t>(status.f_type), mountinfo, real);
}

}  // namespace threadstore::db
