#include "tests/support/crash_disk.h"
#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace fs = std::filesystem;

DiskRecorder::DiskRecorder(fs::path directory) : directory_(std::move(directory)) {
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const std::string name = entry.path().filename();
    names_[name] = ++last_file_;
    initial_[name] = {.file = last_file_, .content = read_file(entry.path())};
  }
}

std::optional<std::string> DiskRecorder::name_in_directory(const fs::path& path) const {
  if (path.parent_path() != directory_) return std::nullopt;
  return path.filename().string();
}

int DiskRecorder::file_of(const DiskCall& call) {
  const auto known = open_.find(call.handle);
  if (known != open_.end()) return known->second;
  const auto named = names_.find(call.path.filename());  // it was opened while nobody watched
  return named == names_.end() ? 0 : open_[call.handle] = named->second;
}

void DiskRecorder::done(const DiskCall& call) {
  using Kind = DiskChange::Kind;
  if (call.verb == DiskVerb::close) {
    open_.erase(call.handle);
    return;
  }
  if (leave_out && leave_out(call)) return;
  if (call.verb == DiskVerb::sync_directory) {
    if (call.path == directory_) changes_.push_back({.kind = Kind::sync_directory});
    return;
  }
  const auto name = name_in_directory(call.path);
  if (!name) return;
  switch (call.verb) {
    case DiskVerb::open:
      if (call.created) {
        names_[*name] = ++last_file_;
        changes_.push_back({.kind = Kind::create, .file = last_file_, .name = *name});
      }
      if (names_.count(*name) > 0) open_[call.handle] = names_[*name];
      return;
    case DiskVerb::write:
      changes_.push_back({.kind = Kind::write,
                          .file = file_of(call),
                          .offset = call.offset,
                          .bytes = std::string(call.bytes)});
      return;
    case DiskVerb::truncate:
      changes_.push_back({.kind = Kind::truncate, .file = file_of(call), .offset = call.offset});
      return;
    case DiskVerb::sync:
      changes_.push_back({.kind = Kind::sync, .file = file_of(call)});
      return;
    case DiskVerb::rename: {
      const std::string to = call.to.filename();
      names_[to] = names_.at(*name);
      names_.erase(*name);
      changes_.push_back({.kind = Kind::rename, .file = names_[to], .name = *name, .to = to});
      return;
    }
    case DiskVerb::link: {
      const std::string to = call.to.filename();
      names_[to] = names_.at(*name);
      changes_.push_back({.kind = Kind::link, .file = names_[to], .name = *name, .to = to});
      return;
    }
    case DiskVerb::unlink:
      names_.erase(*name);
      changes_.push_back({.kind = Kind::unlink, .name = *name});
      return;
    case DiskVerb::sync_directory:
    case DiskVerb::close:
    case DiskVerb::read:
    case DiskVerb::lock:
    case DiskVerb::map:
    case DiskVerb::look:
    case DiskVerb::chmod:
      return;
  }
}

}  // namespace threadstore::test
