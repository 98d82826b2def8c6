#include "tests/support/crash_disk.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace fs = std::filesystem;
namespace {

using Kind = DiskChange::Kind;

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

bool is_lock_file(const std::string& name) {
  return name.ends_with(".lock") || name.ends_with(".gate") || name.ends_with(".leases") ||
         name.ends_with(".removal");
}

void resize(std::string& content, std::int64_t size) {
  content.resize(static_cast<std::size_t>(size), '\0');
}

/// Writes as much of the bytes as fits below `limit`, the file growing as needed up to it.
void put(std::string& content, std::int64_t offset, std::string_view bytes, std::size_t limit) {
  const auto begin = static_cast<std::size_t>(offset);
  if (begin >= limit) return;
  bytes = bytes.substr(0, limit - begin);
  if (content.size() < begin + bytes.size()) content.resize(begin + bytes.size(), '\0');
  std::copy(bytes.begin(), bytes.end(), content.begin() + offset);
}

/// Calls `keep(offset, bytes)` for the sectors of a write that the chance favours.
template <class Keep>
void scatter(const DiskChange& write, std::size_t sector, double chance, std::mt19937_64& random,
             Keep&& keep) {
  std::bernoulli_distribution kept(chance);
  const auto begin = static_cast<std::size_t>(write.offset);
  for (std::size_t at = begin; at < begin + write.bytes.size();) {
    const std::size_t end = std::min(begin + write.bytes.size(), (at / sector + 1) * sector);
    if (kept(random)) {
      keep(static_cast<std::int64_t>(at),
           std::string_view(write.bytes).substr(at - begin, end - at));
    }
    at = end;
  }
}

double any_chance(std::mt19937_64& random) {
  constexpr std::array chances{0.05, 0.3, 0.5, 0.8, 0.95};
  return chances.at(random() % chances.size());
}

}  // namespace

std::string_view to_string(CrashStyle style) {
  constexpr std::array<std::string_view, 4> names{"lose_all", "keep_all", "in_order", "scattered"};
  return names.at(static_cast<std::size_t>(style));
}

CrashDisk::CrashDisk(const DiskRecorder& recorder) : recorder_(recorder) {
  for (const auto& [name, file] : recorder.initial()) {
    durable_names_[name] = file.file;
    files_[file.file].durable = file.content;
  }
}

void CrashDisk::apply_name(Names& names, const DiskChange& change) {
  if (change.kind == Kind::create) names[change.name] = change.file;
  if (change.kind == Kind::unlink) names.erase(change.name);
  if (change.kind == Kind::rename) names.erase(change.name);
  if (change.kind == Kind::rename || change.kind == Kind::link) names[change.to] = change.file;
}

void CrashDisk::advance(std::size_t position) {
  std::mt19937_64 unused;
  for (; position_ < position; ++position_) {
    const DiskChange& change = recorder_.changes().at(position_);
    switch (change.kind) {
      case Kind::write:
      case Kind::truncate:
        files_[change.file].pending.push_back({position_, &change});
        break;
      case Kind::sync: {
        File& file = files_[change.file];
        file.durable = content_after(file, CrashStyle::keep_all, everything, unused);
        file.pending.clear();
        break;
      }
      case Kind::create:
      case Kind::rename:
      case Kind::link:
      case Kind::unlink:
        pending_names_.push_back({position_, &change});
        break;
      case Kind::sync_directory:
        for (const Pending& pending : pending_names_) apply_name(durable_names_, *pending.change);
        pending_names_.clear();
        break;
    }
  }
}

CrashDisk::Names CrashDisk::names_after(CrashStyle style, std::size_t cut,
                                        std::mt19937_64& random) const {
  Names names = durable_names_;
  if (style == CrashStyle::lose_all) return names;
  std::bernoulli_distribution kept(any_chance(random));
  for (const Pending& pending : pending_names_) {
    if (pending.position > cut) break;
    if (style == CrashStyle::scattered && !kept(random)) continue;
    apply_name(names, *pending.change);
  }
  return names;
}

std::string CrashDisk::content_after(const File& file, CrashStyle style, std::size_t cut,
                                     std::mt19937_64& random) const {
  std::string content = file.durable;
  if (style == CrashStyle::lose_all || file.pending.empty()) return content;
  const bool scattered = style == CrashStyle::scattered;
  const std::size_t sector = random() % 2 == 0 ? 512 : 4096;
  const double chance = any_chance(random);
  // The size is one fact with an order of its own: up to here its changes reached the disk.
  const std::size_t sized =
      scattered ? file.pending.at(random() % file.pending.size()).position : cut;
  for (const Pending& pending : file.pending) {
    const DiskChange& change = *pending.change;
    if (pending.position > cut) break;
    const bool may_size = pending.position <= sized;
    if (change.kind == Kind::truncate) {
      if (may_size) resize(content, change.offset);
      continue;
    }
    const auto end = static_cast<std::size_t>(change.offset) + change.bytes.size();
    if (!scattered) {
      const bool torn = pending.position == cut;
      const std::size_t whole = change.bytes.size();
      put(content, change.offset,
          std::string_view(change.bytes).substr(0, torn ? random() % (whole + 1) : whole),
          everything);
      continue;
    }
    if (may_size && content.size() < end) content.resize(end, '\0');
    scatter(change, sector, chance, random, [&](std::int64_t at, std::string_view bytes) {
      put(content, at, bytes, content.size());
    });
  }
  return content;
}

std::size_t CrashDisk::random_cut(std::mt19937_64& random) const {
  std::vector<std::size_t> positions;
  for (const auto& [number, file] : files_) {
    for (const Pending& pending : file.pending) positions.push_back(pending.position);
  }
  for (const Pending& pending : pending_names_) positions.push_back(pending.position);
  return positions.empty() ? everything : positions.at(random() % positions.size());
}

void CrashDisk::crash(CrashStyle style, std::mt19937_64& random, const fs::path& into) const {
  const std::size_t cut = style == CrashStyle::in_order ? random_cut(random) : everything;
  const Names names = names_after(style, cut, random);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(into)) {
    const std::string name = entry.path().filename();
    if (!is_lock_file(name)) old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove_all(path);
  for (const auto& [name, number] : names) {
    if (is_lock_file(name)) continue;
    const auto file = files_.find(number);
    write_file(into / name, file == files_.end() ? std::string()
                                                 : content_after(file->second, style, cut, random));
    fs::permissions(into / name, fs::perms::owner_read | fs::perms::owner_write);
  }
}

}  // namespace threadstore::test
