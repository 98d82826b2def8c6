#include <sys/stat.h>

#include <charconv>
#include <string>

#include "base/files.h"
#include "state/db/database_users.h"
#include "state/db/file_system.h"
#include "state/doctor.h"
#include "state/search/search_index.h"

namespace threadstore::state {
namespace {

constexpr std::int64_t large_wal = std::int64_t{64} << 20;

/// 3.40.1 as 3040001, as the library's own version number has it.
std::int64_t version_number(const std::string& version) {
  std::int64_t number = 0;
  const char* next = version.data();
  const char* const end = next + version.size();
  for (int part = 0; part < 3; ++part) {
    std::int64_t value = 0;
    next = std::from_chars(next, end, value).ptr;
    if (next != end) ++next;  // the dot
    number = number * 1000 + value;
  }
  return number;
}

/// Versions that can lose committed pages when a checkpoint meets a reset of the WAL.
bool has_wal_reset_bug(std::int64_t version) {
  const bool repaired = version >= 3051003 || (version >= 3050007 && version < 3051000) ||
                        (version >= 3044006 && version < 3045000);
  return version >= 3007000 && !repaired;
}

}  // namespace

std::string open_mode(const std::filesystem::path& file) {
  // Asks for the status only: a descriptor of a database is never ours to open.
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "";
  const unsigned mode = status.st_mode & 07777U;
  if ((mode & 077U) == 0) return "";
  std::string octal(4, '0');
  for (std::size_t digit = 0; digit < 4; ++digit) {
    octal[3 - digit] = static_cast<char>('0' + ((mode >> (3 * digit)) & 7U));
  }
  return octal;
}

std::vector<std::filesystem::path> store_files(const StoreContext& context) {
  const std::string database = context.file.string();
  const std::string index = context.index->file().string();
  std::vector<std::filesystem::path> files{database,
                                           database + "-wal",
                                           database + "-shm",
                                           database + ".gate",
                                           database + ".leases",
                                           database + ".removal",
                                           index,
                                           index + ".lock"};
  for (auto& file : SearchIndex::files_of(context)) files.push_back(std::move(file));
  return files;
}

Check check_file_modes(StoreContext& context) {
  if (!context.index) return {.detail = "the store is in memory"};
  auto files = store_files(context);
  files.insert(files.begin(), context.file.parent_path());
  std::string open_files;
  for (const auto& file : files) {
    const std::string mode = open_mode(file);
    if (!mode.empty())
      open_files += (open_files.empty() ? "" : ", ") + file.string() + " (" + mode + ")";
  }
  if (open_files.empty()) return {.detail = "only you can read the store's files"};
  return {.status = CheckStatus::warning,
          .detail = "other users may open " + open_files,
          .advice = "'threadstore doctor --repair' closes the files; a directory: chmod go-rwx"};
}

Check check_sqlite_version(StoreContext& context) {
  const std::string version = context.read([](db::Session& session) {
    return session.value<std::string>("SELECT sqlite_version()").value_or("");
  });
  if (!has_wal_reset_bug(version_number(version))) return {.detail = "SQLite " + version};
  return {.status = CheckStatus::warning,
          .detail = "SQLite " + version +
                    " can lose committed pages when a checkpoint meets a reset of the WAL; "
                    "threadstore's own checkpoints are guarded against it, those of other "
                    "programs on this store are not",
          .advice = "update SQLite to 3.51.3, 3.50.7 or 3.44.6"};
}

Check check_network(StoreContext& context) {
  const auto network = db::network_file_system(context.file);
  if (!context.index || !network) return {.detail = "the store lies on a local file system"};
  return {.status = CheckStatus::warning,
          .detail = "the store lies on a network file system, " + network->type + " at " +
                    network->mount_point.string() + ", where locks and the WAL are not safe",
          .advice = "move it to a local disk: 'threadstore backup', then 'restore' with --home"};
}

Check check_wal_size(StoreContext& context) {
  const auto status = base::file_status(context.file.string() + "-wal");
  const std::int64_t bytes = status ? status->size : 0;
  std::string detail = "the write-ahead log has " + std::to_string(bytes) + " bytes";
  const std::string readers = db::who_reads(context.file);
  if (!readers.empty()) detail += "; being read by " + readers;
  if (bytes <= large_wal) return {.detail = detail};
  return {.status = CheckStatus::warning,
          .detail = detail,
          .advice =
              "end the programs that keep the store open for reading; the next writes then "
              "shorten it"};
}

}  // namespace threadstore::state
