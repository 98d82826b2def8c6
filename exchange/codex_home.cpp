#include "exchange/codex_home.h"

#include <fstream>

#include "base/json.h"
#include "exchange/json_text.h"

namespace threadstore::exchange {
namespace {

using Path = std::filesystem::path;
constexpr std::size_t kUuidLength = 36;

/// The folder that has this rollout under "sessions" or "archived_sessions".
std::optional<Path> find_home(const Path& rollout) {
  for (Path folder = rollout.parent_path(); folder.has_filename(); folder = folder.parent_path()) {
    if (folder.filename() == "sessions" || folder.filename() == "archived_sessions") {
      return folder.parent_path();
    }
  }
  return std::nullopt;
}

/// Both spellings of the index's keys are accepted.
std::map<std::string, std::string> read_names(const Path& index) {
  std::map<std::string, std::string> names;
  std::ifstream in(index, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (base::find_json_fault(line)) continue;
    const JsonText entry(line);
    std::string id = entry["id"].string();
    if (id.empty()) id = entry["thread_id"].string();
    const auto name = entry["thread_name"].string_or_none();
    if (!id.empty() && name && !name->empty()) names[id] = *name;
  }
  return names;
}

}  // namespace

CodexFileName read_codex_file_name(const Path& rollout) {
  std::string stem = rollout.filename().string();
  for (const std::string_view ending : {".zst", ".jsonl"}) {
    if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  }
  CodexFileName name;
  const std::size_t underscore = stem.find('_');
  if (underscore != std::string::npos) {
    name.segment = stem.substr(underscore + 1);
    stem.resize(underscore);
  }
  if (stem.size() >= kUuidLength) name.thread = stem.substr(stem.size() - kUuidLength);
  return name;
}

bool CodexHomes::is_archived(const Path& rollout) {
  for (const Path& part : rollout.parent_path()) {
    if (part == "archived_sessions") return true;
  }
  return false;
}

CodexHomes::Home* CodexHomes::home_of(const Path& rollout) {
  const auto folder = find_home(std::filesystem::absolute(rollout));
  if (!folder) return nullptr;
  const auto [found, made] = homes_.try_emplace(*folder);
  Home& home = found->second;
  if (!made) return &home;
  home.names = read_names(*folder / "session_index.jsonl");
  for (const char* part : {"sessions", "archived_sessions"}) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entries(*folder / part, error), end;
    for (; !error && entries != end; entries.increment(error)) {
      const std::string id = read_codex_file_name(entries->path()).thread;
      if (!id.empty()) home.rollouts[id].push_back(entries->path());
    }
  }
  return &home;
}

std::optional<std::string> CodexHomes::name(const Path& rollout, const std::string& thread) {
  Home* home = home_of(rollout);
  if (home == nullptr) return std::nullopt;
  const auto found = home->names.find(thread);
  return found == home->names.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Path> CodexHomes::rollouts(const Path& rollout, const std::string& thread) {
  Home* home = home_of(rollout);
  if (home == nullptr) return {};
  const auto found = home->rollouts.find(thread);
  return found == home->rollouts.end() ? std::vector<Path>() : found->second;
}

}  // namespace threadstore::exchange
