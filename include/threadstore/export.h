#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "threadstore/state_store.h"

namespace threadstore {

/// As what a thread is written (docs/import_export.md says what each keeps).
enum class ExportFormat {
  markdown,  ///< to read and to paste: the branch, with a note where others begin
  json,      ///< everything, one JSON document a line; `import_history` takes it back
  html,      ///< one page that needs nothing else: all branches, no request to anywhere
  codex,     ///< a Codex rollout: the branch
  pi,        ///< a pi session: all branches
};

template <>
struct EnumNames<ExportFormat> {
  static constexpr std::array table{
      std::pair{ExportFormat::markdown, std::string_view("markdown")},
      std::pair{ExportFormat::json, std::string_view("json")},
      std::pair{ExportFormat::html, std::string_view("html")},
      std::pair{ExportFormat::codex, std::string_view("codex")},
      std::pair{ExportFormat::pi, std::string_view("pi")},
  };
};

struct ExportOptions {
  ExportFormat format = ExportFormat::markdown;
  /// Where the branch ends that is followed (markdown, codex), shown first (html) or left open
  /// (pi); default: the current leaf.
  std::optional<MessageId> leaf{};
  bool all_branches = false;  ///< markdown: the other branches behind the followed one
  /// Replaces what looks like a secret, in every format, in contents and inside of items.
  bool redact = false;
  bool overwrite = false;  ///< replace a file that is there
  Progress progress{};     ///< messages written, messages of the thread
};

/// What an export wrote.
struct Exported {
  ThreadId thread_id{};
  std::filesystem::path file{};  ///< empty: a stream
  std::int64_t messages = 0;
  std::int64_t redacted = 0;  ///< secrets that were replaced
  std::int64_t damaged = 0;   ///< messages whose bytes are not what was stored

  friend bool operator==(const Exported&, const Exported&) = default;
};

/// Writes a thread. Memory holds the tree without its texts, and some messages at a time. Others
/// may write to the store meanwhile; what they add may or may not be in it. Throws `not_found` (the
/// thread, the leaf), `conflict` when the thread was removed meanwhile, `io` when the stream fails.
Exported export_thread(const StateStore& store, const ThreadId& thread, std::ostream& out,
                       const ExportOptions& options = {});

/// The same into a file of mode 0600, which appears whole or not at all. Throws `conflict` when it
/// exists and is not to be replaced, `not_found` also for its directory, `io`.
Exported export_thread(const StateStore& store, const ThreadId& thread,
                       const std::filesystem::path& file, const ExportOptions& options = {});

/// Writes every thread, archived ones too, into a file of its own in `directory` (made 0700 when
/// missing), named by name and id. A thread that cannot be read is reported, and the others go on.
struct ExportedAll {
  struct Failure {
    ThreadId thread_id{};
    std::string why{};
  };
  std::vector<Exported> threads{};
  std::vector<Failure> failed{};
};

/// Looks at all names before the first file is written: throws `conflict` naming one that exists
/// and is not to be replaced. `progress` counts threads. `leaf` is not used.
ExportedAll export_all(const StateStore& store, const std::filesystem::path& directory,
                       const ExportOptions& options = {});

/// The name of a thread's file in `export_all`: "plan-the-trip-648f8580.md". Safe on any system.
std::string export_file_name(const Thread& thread, ExportFormat format);

}  // namespace threadstore
