#include <algorithm>
#include <map>
#include <set>

#include "exchange/format.h"
#include "exchange/head.h"
#include "exchange/import_job.h"
#include "threadstore/error.h"
#include "threadstore/import.h"

namespace threadstore {
namespace {

using exchange::Format;
using exchange::ImportJob;
using Path = std::filesystem::path;

/// A file that will be read.
struct Planned {
  Path file;
  Format* format = nullptr;
  std::string session;
  std::vector<std::string> needs;
  std::int64_t bytes = 0;
};

/// Which files are read, and in which order.
class Plan {
 public:
  Plan(ImportJob& job, const std::vector<std::unique_ptr<Format>>& formats)
      : job_(job), formats_(formats) {}

  /// A path that the caller named: it must be a history or a folder.
  void add_named(const Path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
      if (error && error != std::errc::no_such_file_or_directory) {
        throw Error(error == std::errc::permission_denied ? IoReason::permission : IoReason::other,
                    "cannot read " + path.string() + ": " + error.message());
      }
      throw Error(ErrorCode::not_found, "there is no file or folder " + path.string());
    }
    if (std::filesystem::is_directory(status)) return add_folder(path);
    if (!std::filesystem::is_regular_file(status)) {
      throw Error(ErrorCode::invalid_argument,
                  "cannot import " + path.string() + ": it is neither a file nor a folder");
    }
    refuse_own_store(path);
    if (!add_file(path)) {
      throw Error(ErrorCode::invalid_argument,
                  "cannot import " + path.string() + ": its content is none of " + known_formats());
    }
  }

  /// Sources before their forks, else by path.
  std::vector<Planned> in_order() {
    std::sort(files_.begin(), files_.end(),
              [](const Planned& a, const Planned& b) { return a.file < b.file; });
    std::map<std::string, std::vector<std::size_t>> by_session;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].session.empty()) continue;
      by_session[files_[i].session].push_back(i);
      job_.sessions.insert(files_[i].session);
    }
    for (const Planned& file : files_) job_.needed.insert(file.needs.begin(), file.needs.end());
    std::vector<Planned> ordered;
    std::vector<bool> placed(files_.size());
    for (std::size_t i = 0; i < files_.size(); ++i) place(i, by_session, placed, ordered);
    return ordered;
  }

  std::int64_t bytes() const { return bytes_; }

 private:
  using BySession = std::map<std::string, std::vector<std::size_t>>;

  void place(std::size_t first, const BySession& by_session, std::vector<bool>& placed,
             std::vector<Planned>& ordered) {
    // A chain of forks may be long: no recursion. A file is placed when it comes up again.
    std::vector<std::pair<std::size_t, bool>> waiting{{first, false}};
    std::set<std::size_t> opened;
    while (!waiting.empty()) {
      const auto [index, ready] = waiting.back();
      waiting.pop_back();
      if (placed[index]) continue;
      if (ready) {
        placed[index] = true;
        ordered.push_back(files_[index]);
        continue;
      }
      if (!opened.insert(index).second) continue;  // a circle
      waiting.emplace_back(index, true);
      for (const std::string& need : files_[index].needs) {
        const auto found = by_session.find(need);
        if (found == by_session.end()) continue;
        for (auto source = found->second.rbegin(); source != found->second.rend(); ++source) {
          // The files of one session follow each other by name.
          const bool later = *source > index && files_[*source].session == files_[index].session;
          if (*source != index && !later) waiting.emplace_back(*source, false);
        }
      }
    }
  }

  void add_folder(const Path& folder) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entries(folder, error), end;
    if (error) {
      throw Error(error == std::errc::permission_denied ? IoReason::permission : IoReason::other,
                  "cannot read the folder " + folder.string() + ": " + error.message());
    }
    for (; entries != end; entries.increment(error)) {
      if (entries->is_regular_file(error) && !is_beside_database(entries->path())) {
        add_found(entries->path());
      }
    }
    if (error) job_.skip(folder, 0, "the folder could not be read to its end: " + error.message());
  }

  void add_found(const Path& file) {
    if (is_own_store(file)) return;
    try {
      if (!add_file(file)) ++job_.report().not_histories;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::io) ++job_.report().unreadable;
      job_.skip(file, 0, error.what());
    }
  }

  static bool is_beside_database(const Path& file) {
    const std::string name = file.filename().string();
    return name.ends_with("-wal") || name.ends_with("-shm") || name.ends_with("-journal");
  }

  bool is_own_store(const Path& file) const {
    std::error_code error;
    return job_.store().path().has_filename() &&
           std::filesystem::equivalent(file, job_.store().path(), error);
  }

  void refuse_own_store(const Path& file) const {
    if (!is_own_store(file)) return;
    throw Error(ErrorCode::invalid_argument,
                "cannot import " + file.string() + ": it is the store that would take it");
  }

  /// False when no format knows the file.
  bool add_file(const Path& file) {
    std::error_code error;
    const Path real = std::filesystem::canonical(file, error);
    if (!error && !seen_.insert(real).second) return true;
    const exchange::Head head = exchange::read_head(file);
    for (const auto& format : formats_) {
      if (!format->recognises(head)) continue;
      exchange::Identity identity = format->identify(head);
      Planned planned{.file = std::filesystem::absolute(file),
                      .format = format.get(),
                      .session = std::move(identity.session),
                      .needs = std::move(identity.needs),
                      .bytes = static_cast<std::int64_t>(std::filesystem::file_size(file, error))};
      bytes_ += planned.bytes;
      files_.push_back(std::move(planned));
      for (const Path& companion : identity.companions) add_found(companion);
      return true;
    }
    return false;
  }

  std::string known_formats() const {
    std::string names;
    for (const auto& format : formats_) {
      names += (names.empty() ? "" : ", ") + std::string(format->name());
    }
    return names;
  }

  ImportJob& job_;
  const std::vector<std::unique_ptr<Format>>& formats_;
  std::vector<Planned> files_;
  std::set<Path> seen_;
  std::int64_t bytes_ = 0;
};

void read_one(const Planned& planned, ImportJob& job) {
  job.begin_file(planned.bytes);
  try {
    planned.format->read(planned.file, job);
  } catch (const Error& error) {
    // The file, not the store: what of it was not stored yet is given up, the others go on.
    if (error.code() != ErrorCode::damaged && error.code() != ErrorCode::newer_format) throw;
    job.writer().abandon();
    job.skip(planned.file, 0, error.what());
  }
  job.end_file();
}

}  // namespace

ImportReport import_history(StateStore store, const std::vector<Path>& paths,
                            const ImportOptions& options) {
  ImportJob job(std::move(store), options);
  const auto formats = exchange::make_formats();
  Plan plan(job, formats);
  for (const Path& path : paths) plan.add_named(path);
  const std::vector<Planned> files = plan.in_order();
  job.expect(static_cast<std::int64_t>(files.size()), plan.bytes());
  for (const Planned& file : files) read_one(file, job);
  job.writer().flush();
  for (const auto& format : formats) format->finish(job);
  return job.report();
}

}  // namespace threadstore
