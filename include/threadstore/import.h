#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "threadstore/state_store.h"

namespace threadstore {

/// How far an import is.
struct ImportProgress {
  std::int64_t files = 0;  ///< read to their end
  std::int64_t files_total = 0;
  std::int64_t bytes = 0;  ///< of all files; what is compressed or a database counts as it lies
  std::int64_t bytes_total = 0;
  std::int64_t messages = 0;  ///< taken so far
};

struct ImportOptions {
  bool dry_run = false;  ///< say what would come; write nothing
  /// Called between lines and records, often; on the calling thread.
  std::function<void(const ImportProgress&)> progress{};
};

/// Something that could not be taken, or only in part.
struct ImportSkip {
  std::filesystem::path file{};
  std::int64_t line = 0;  ///< from 1; 0: the file as a whole, or it has no lines
  std::string why{};

  friend bool operator==(const ImportSkip&, const ImportSkip&) = default;
};

struct ImportReport {
  std::int64_t files = 0;             ///< histories that were read
  std::int64_t threads = 0;           ///< new ones
  std::int64_t grown = 0;             ///< threads that were there and got messages
  std::int64_t messages = 0;          ///< new ones
  std::int64_t already_present = 0;   ///< messages that the store had
  std::int64_t not_histories = 0;     ///< files of walked folders that are something else
  std::int64_t unreadable = 0;        ///< files of walked folders; also in `skipped`
  std::vector<ImportSkip> skipped{};  ///< the first 1,000
  std::int64_t skipped_total = 0;
};

/// Takes the histories of other programs into the store (docs/import_export.md): Codex rollouts and
/// homes, pi sessions, Claude Code transcripts, opencode databases and exports, LangGraph
/// checkpoints in SQLite, a `state.db`, and our own JSON. A file is known by its content; a folder
/// is walked. Nothing that is read is executed or fetched, and no source is changed.
///
/// A thread gets the id that its session has where that is a UUID, else one derived from source and
/// id, and every message an idempotency key: importing again adds only what is new. A name or an
/// archived flag that the thread has by then is kept, and so is its active branch when somebody
/// continued it here. A bad line costs itself and is reported.
///
/// Memory stays bounded whatever the size of a file. Messages are stored in batches, each in one
/// transaction; what was stored before a failure stays, and the next import goes on from there.
///
/// Throws `not_found` (a path), `io` (a path that cannot be read) and `invalid_argument` (a path
/// that is no history, or the store itself) before anything was stored; later what the store
/// throws. Inside a folder such files are reported or counted instead.
ImportReport import_history(StateStore store, const std::vector<std::filesystem::path>& paths,
                            const ImportOptions& options = {});

}  // namespace threadstore
