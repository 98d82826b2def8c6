#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>

#include "base/file_lock.h"
#include "state/doctor.h"
#include "state/search/search_index.h"

namespace threadstore::state {
namespace fs = std::filesystem;
namespace {

/// The process whose number ends the name; 0 when none does.
pid_t maker_of(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return 0;
  pid_t pid = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + dot + 1, end, pid);
  return parsed.ptr == end && pid > 0 ? pid : 0;
}

bool take_off(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

/// "state.db.1.4711.tmp" and "state.db.v3.bak.4711", each perhaps with its rollback journal: a copy
/// that process 4711 did not finish.
bool is_dead_copy(std::string_view name, const std::string& database) {
  if (!name.starts_with(database + ".")) return false;
  take_off(name, "-journal");
  const bool temporary = take_off(name, ".tmp");
  const pid_t maker = maker_of(name);
  if (maker == 0 || (!temporary && name.find(".bak.") == std::string_view::npos)) return false;
  return ::kill(maker, 0) != 0 && errno == ESRCH;
}

/// A compaction writes under the index's lock: nobody is at it when the lock is free.
bool nobody_compacts(const fs::path& index) {
  const fs::path lock = index.string() + ".lock";
  return !fs::exists(lock) || base::FileLock::at(lock).try_acquire().has_value();
}

/// The log of a search index that somebody deleted: the next one would not read it.
bool is_log_without_index(const fs::path& file, const fs::path& search) {
  const bool log = file == search.string() + "-wal" || file == search.string() + "-shm";
  return log && !fs::exists(search);
}

}  // namespace

std::vector<fs::path> left_over_temporaries(const StoreContext& context) {
  std::vector<fs::path> found;
  if (!context.index) return found;
  const fs::path compacted = context.index->file().string() + ".compact";
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(context.file.parent_path(), unreadable)) {
    const fs::path& file = entry.path();
    if (file == compacted
            ? nobody_compacts(context.index->file())
            : is_dead_copy(file.filename().string(), context.file.filename().string()) ||
                  is_log_without_index(file, SearchIndex::file_of(context))) {
      found.push_back(file);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Check check_temporaries(StoreContext& context) {
  const auto found = left_over_temporaries(context);
  if (found.empty()) return {.detail = "no unfinished file lies about"};
  std::string names;
  for (const fs::path& file : found) {
    names += (names.empty() ? "" : ", ") + file.filename().string();
  }
  return {.status = CheckStatus::warning,
          .detail = "processes that died left " + names,
          .advice = "'threadstore doctor --repair' removes them"};
}

}  // namespace threadstore::state
