#include "state/db/file_system.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/temp_dir.h"

namespace threadstore::db {
namespace {

constexpr std::uint32_t kExt4 = 0xef53;
constexpr std::uint32_t kFuse = 0x65735546;

constexpr std::string_view kMounts =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "30 22 0:26 / /home rw shared:2 master:1 - nfs4 server:/home rw,vers=4.2\n"
    "31 30 0:27 / /home/ann/My\\040Disk rw - fuse.sshfs ann@host: rw\n"
    "32 22 0:28 / /mnt/c rw,noatime - 9p drvfs rw,aname=drvfs;path=C:\\134\n"
    "33 22 0:29 / /mnt/stick rw - fuseblk /dev/sdb1 rw\n"
    "34 22 0:30 / /media rw - cifs //server/share rw\n"
    "35 34 8:1 / /media rw - xfs /dev/sda1 rw\n"
    "broken line\n";

std::string type_of(const std::string& path, std::uint32_t magic = kExt4) {
  const auto found = network_file_system(magic, kMounts, path);
  return found ? found->type + " on " + found->mount_point.string() : "local";
}

TEST(FileSystemTest, TheDeepestMountDecides) {
  EXPECT_EQ(type_of("/var/lib/state.db"), "local");
  EXPECT_EQ(type_of("/home/ann/state.db"), "nfs4 on /home");
  EXPECT_EQ(type_of("/home"), "nfs4 on /home");
  EXPECT_EQ(type_of("/homestead/state.db"), "local");
  EXPECT_EQ(type_of("/home/ann/My Disk/state.db", kFuse), "fuse.sshfs on /home/ann/My Disk");
  EXPECT_EQ(type_of("/mnt/c/Users/state.db"), "9p on /mnt/c");
}

TEST(FileSystemTest, FuseIsNotAlwaysANetwork) {
  EXPECT_EQ(type_of("/mnt/stick/state.db", kFuse), "local");
}

TEST(FileSystemTest, ALaterMountHidesTheEarlierOnTheSamePoint) {
  EXPECT_EQ(type_of("/media/state.db"), "local");
}

TEST(FileSystemTest, WhatStatfsSaysCountsAlone) {
  const std::vector<std::pair<std::uint32_t, std::string>> network{
      {0x6969, "nfs"},        {0x517b, "smb"},      {0xff534d42, "cifs"},  {0xfe534d42, "smb3"},
      {0x01021997, "9p"},     {0x5346414f, "afs"},  {0x6b414653, "afs"},   {0x00c36400, "ceph"},
      {0x0bd00bd0, "lustre"}, {0x73757245, "coda"}, {0x7461636f, "ocfs2"}, {0x01161970, "gfs2"},
      {0x786f4256, "vboxsf"}, {0x53464846, "drvfs"}};
  for (const auto& [magic, type] : network) {
    EXPECT_EQ(type_of("/var/state.db", magic), type + " on /") << std::hex << magic;
    EXPECT_EQ(network_file_system(magic, "", "/x"), (NetworkFileSystem{type, ""}));
  }
  for (const std::uint32_t local : {0U, kExt4, 0x01021994U /* tmpfs */, 0x9123683eU /* btrfs */,
                                    0x58465342U /* xfs */, 0x794c7630U /* overlay */}) {
    EXPECT_EQ(type_of("/var/state.db", local), "local") << std::hex << local;
  }
}

TEST(FileSystemTest, EveryNetworkTypeOfMountinfoIsKnown) {
  for (const std::string type : {"nfs",         "nfs4",           "cifs",
                                 "smb3",        "smbfs",          "9p",
                                 "virtiofs",    "drvfs",          "afs",
                                 "ceph",        "lustre",         "gpfs",
                                 "beegfs",      "fuse.sshfs",     "fuse.rclone",
                                 "fuse.s3fs",   "fuse.glusterfs", "fuse.gvfsd-fuse",
                                 "fuse.davfs2", "fuse.ceph-fuse", "fuse.osxfs"}) {
    const std::string line = "1 0 0:1 / /net rw - " + type + " source rw\n";
    EXPECT_EQ(network_file_system(kFuse, line, "/net/state.db"), (NetworkFileSystem{type, "/net"}));
  }
}

TEST(FileSystemTest, AFileThatIsNotThereYetIsOnTheFileSystemOfItsParent) {
  const test::TempDir directory;
  EXPECT_EQ(network_file_system(directory / "not" / "yet" / "state.db"),
            network_file_system(directory.path()));
}

}  // namespace
}  // namespace threadstore::db
