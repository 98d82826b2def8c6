#include "threadstore/export.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/files.h"
#include "exchange/export_file.h"
#include "exchange/export_formats.h"
#include "exchange/readable_text.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using exchange::ExportSource;

void write(ExportSource& source, std::ostream& out) {
  switch (source.options().format) {
    case ExportFormat::markdown:
      return exchange::write_markdown(source, out);
    case ExportFormat::json:
      return exchange::write_native(source, out);
    case ExportFormat::html:
      return exchange::write_html(source, out);
    case ExportFormat::codex:
      return exchange::write_codex(source, out);
    case ExportFormat::pi:
      return exchange::write_pi(source, out);
  }
}

const char* extension(ExportFormat format) {
  switch (format) {
    case ExportFormat::markdown:
      return ".md";
    case ExportFormat::html:
      return ".html";
    case ExportFormat::json:
    case ExportFormat::codex:
    case ExportFormat::pi:
      return ".jsonl";
  }
  return "";
}

void refuse_existing(const std::filesystem::path& file) {
  if (!base::file_status(file)) return;
  throw Error(ErrorCode::conflict,
              "cannot export to " + file.string() +
                  ": it exists; choose another name, or replace it (--force)",
              {{"file", file.string()}});
}

/// Letters, digits and dashes of the name, as other systems take them too.
std::string safe_words(const std::string& name) {
  constexpr std::size_t longest = 60;
  std::string words;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (letter || capital) {
      words += capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!words.empty() && words.back() != '-') {
      words += '-';
    }
    if (words.size() == longest) break;
  }
  while (!words.empty() && words.back() == '-') words.pop_back();
  return words;
}

}  // namespace

Exported export_thread(const StateStore& store, const ThreadId& thread, std::ostream& out,
                       const ExportOptions& options) {
  ExportSource source(store, thread, options);
  write(source, out);
  out.flush();
  if (!out) {
    throw Error(IoReason::other, "cannot export thread " + thread.str() + ": writing it failed");
  }
  return {.thread_id = thread,
          .file = {},
          .messages = source.written(),
          .redacted = source.redacted(),
          .damaged = source.damaged()};
}

Exported export_thread(const StateStore& store, const ThreadId& thread,
                       const std::filesystem::path& file, const ExportOptions& options) {
  if (!options.overwrite) refuse_existing(file);
  exchange::NewFile target(file);
  Exported done = export_thread(store, thread, target.stream(), options);
  target.commit(options.overwrite);
  done.file = file;
  return done;
}

std::string export_file_name(const Thread& thread, ExportFormat format) {
  const std::string words = safe_words(exchange::title_of(thread));
  std::string id = safe_words(thread.id.str());
  const bool uuid = id.size() == 36 && id == thread.id.str();
  if (uuid) id = id.substr(id.size() - 12);
  // Other ids may be alike once they are made safe: all of them tells them apart.
  if (!uuid && id != thread.id.str()) {
    id += (id.empty() ? "" : "-") + exchange::short_hash(thread.id.str());
  }
  const bool same = words.empty() || words == id;
  return (same ? id : words + "-" + id) + extension(format);
}

ExportedAll export_all(const StateStore& store, const std::filesystem::path& directory,
                       const ExportOptions& options) {
  std::vector<Thread> threads;
  ThreadFilter filter{.archived = ArchivedFilter::all, .limit = 1000};
  do {
    auto page = store.threads().list(filter);
    threads.insert(threads.end(), page.items.begin(), page.items.end());
    filter.after = page.next;
  } while (filter.after);
  if (!options.overwrite) {
    for (const Thread& thread : threads) {
      refuse_existing(directory / export_file_name(thread, options.format));
    }
  }
  base::make_directories(directory);
  ExportedAll all;
  std::int64_t done = 0;
  for (const Thread& thread : threads) {
    ExportOptions each = options;
    each.progress = {};
    each.leaf.reset();
    const auto file = directory / export_file_name(thread, options.format);
    try {
      all.threads.push_back(export_thread(store, thread.id, file, each));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io || error.code() == ErrorCode::busy) throw;
      all.failed.push_back({thread.id, error.what()});
    }
    if (options.progress) options.progress(++done, static_cast<std::int64_t>(threads.size()));
  }
  return all;
}

}  // namespace threadstore
