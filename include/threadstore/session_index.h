#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/time.h"

namespace threadstore {

/// One session of the index: the last line of its thread id.
struct IndexEntry {
  ThreadId thread_id{};
  std::optional<std::string> thread_name{};
  UnixSeconds updated_at = 0;
  std::optional<std::string> rollout_path{};
  bool deleted = false;  ///< a tombstone: later lines do not bring the thread back…
  bool revived = false;  ///< …but for this one, when it is appended; look-ups leave it false

  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

struct IndexCompaction {
  std::int64_t lines_before = 0;
  std::int64_t lines_after = 0;
};

/// How the index differs from the database; each id once.
struct IndexDifference {
  std::vector<ThreadId> missing;    ///< in the database, not in the index
  std::vector<ThreadId> extra;      ///< in the index, not in the database
  std::vector<ThreadId> different;  ///< another name or path
  bool ok() const { return missing.empty() && extra.empty() && different.empty(); }
};

struct SessionIndexOptions {
  std::chrono::milliseconds deadline{5000};  ///< for the lock of one call
  Clock clock = system_clock();
};

/// The append-only JSONL file `session_index.jsonl` (docs/session_index.md): which sessions exist,
/// what they are called and where their transcripts are, without opening the database. Other
/// programs append to it and compact it at the same time, under `session_index.jsonl.lock`.
/// Thread-safe; all objects of one path in a process share one lock. Reading takes no lock and
/// creates no file: a missing index is empty.
class SessionIndex {
 public:
  explicit SessionIndex(std::filesystem::path file, SessionIndexOptions options = {});
  ~SessionIndex();
  SessionIndex(const SessionIndex&) = delete;
  SessionIndex& operator=(const SessionIndex&) = delete;

  /// Appends the entries, one line each, with one write, and syncs the file: durable when it
  /// returns. Constant in the size of the file. Throws `busy` past the deadline and `io` when the
  /// disk refuses; a partial line is then cut off again where possible. Appending again is
  /// harmless.
  void append(const std::vector<IndexEntry>& entries);
  void append(const IndexEntry& entry);

  /// Appends what `make` returns, nothing when that is empty, and does not wait for the disk: lines
  /// that somebody can make again, which are durable after `sync`. `make` runs under the index's
  /// lock: what it reads elsewhere cannot be older than a line that is in the file already. Waits
  /// at most `deadline` for the lock (zero: only tries). What `make` throws goes to the caller.
  /// `make` may read this index, and must not write it.
  void append_latest(const std::function<std::vector<IndexEntry>()>& make,
                     std::chrono::milliseconds deadline);

  /// Makes durable what `append_latest` appended through this object. Waits for the lock like that.
  /// Throws `busy`, and `io` when the disk refuses: then the lines have to be appended again.
  void sync(std::chrono::milliseconds deadline);

  /// Appends a tombstone: look-ups skip the thread from now on. When the file holds a name of the
  /// thread it is compacted at once, so that the name leaves it.
  void append_tombstone(const ThreadId& id, UnixSeconds now);

  /// The live entry of a thread.
  std::optional<IndexEntry> find(const ThreadId& id) const;
  /// Every asked id is in the answer; without a name when the index has none.
  std::map<ThreadId, std::optional<std::string>> find_names(const std::vector<ThreadId>& ids) const;
  /// Live entries of that name (case-insensitive, see docs/session_index.md), most recently updated
  /// first; a tie goes to the later line.
  std::vector<IndexEntry> find_by_name(const std::string& name) const;
  /// The transcript of the most recently updated session of that name.
  std::optional<std::string> find_path_by_name(const std::string& name) const;
  /// All live entries, most recently updated first.
  std::vector<IndexEntry> entries() const;

  /// Keeps the last line of each thread (and tombstones of the last 30 days). Atomic: a crash
  /// leaves the old or the new file. Unknown keys of a line are kept.
  IndexCompaction compact();

  /// Replaces the file by exactly the entries that `make` returns (and recent tombstones of
  /// others), atomically. A line that says the same already keeps its unknown keys. `make` runs
  /// under the lock, as in `append_latest`.
  void rebuild(const std::function<std::vector<IndexEntry>()>& make);

  /// How the live entries differ from these, the database's: existence, name and path, not time.
  IndexDifference compare(const std::vector<IndexEntry>& database) const;

  struct Stats {
    std::int64_t bytes = 0;
    std::int64_t lines = 0;          ///< ended by a newline
    std::int64_t skipped_lines = 0;  ///< of these, did not parse
    std::int64_t threads = 0;        ///< live entries
  };
  Stats stats() const;

  const std::filesystem::path& file() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace threadstore
