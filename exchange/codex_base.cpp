#include "exchange/codex_base.h"

#include <fcntl.h>

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "exchange/record.h"

namespace threadstore::exchange {
namespace {

constexpr int kMostGenerations = 100;
// Between two messages lie a few lines that are none. More are looked through only to be sure.
constexpr std::int64_t kFarthestMessage = 100'000;
constexpr std::int64_t kLongestLastLine = std::int64_t{1} << 20U;

/// Whether the file's line before `offset` has that ordinal.
bool ends_with_ordinal(const std::filesystem::path& path, std::int64_t offset,
                       std::int64_t ordinal) {
  const auto file = base::File::open(path, O_RDONLY);
  if (!file || offset <= 0 || file->status().size < offset) return false;
  const std::int64_t start = std::max<std::int64_t>(0, offset - kLongestLastLine);
  std::string text = file->read_at(start, static_cast<std::size_t>(offset - start));
  if (text.empty() || text.back() != '\n') return false;
  text.pop_back();
  const std::size_t before = text.rfind('\n');
  const std::string line = before == std::string::npos ? text : text.substr(before + 1);
  return !base::find_json_fault(line) && JsonText(line)["ordinal"].integer() == ordinal;
}

}  // namespace

std::optional<CodexBase> read_codex_base(JsonText session_meta) {
  const JsonText base = session_meta["history_base"];
  const auto end = base["end_ordinal_exclusive"].integer();
  if (!base.is_object() || !end) return std::nullopt;
  return CodexBase{.thread = base["thread_id"].string(),
                   .end_ordinal = *end,
                   .end_byte_offset = base["end_byte_offset"].integer().value_or(0)};
}

std::string codex_ordinal_key(const std::string& segment, std::int64_t ordinal) {
  return message_key("codex",
                     (segment.empty() ? "" : segment + ":") + "o" + std::to_string(ordinal));
}

void CodexRollouts::add(CodexRollout rollout) {
  by_thread_[rollout.thread].push_back(std::move(rollout));
}

const CodexRollout* CodexRollouts::rollout_with(const CodexBase& base) const {
  const auto found = by_thread_.find(base.thread);
  if (found == by_thread_.end()) return nullptr;
  const CodexRollout* first = nullptr;
  for (const CodexRollout& rollout : found->second) {
    if (rollout.segment.empty()) first = &rollout;
    if (ends_with_ordinal(rollout.file, base.end_byte_offset, base.end_ordinal - 1)) {
      return &rollout;
    }
  }
  return first;
}

std::optional<std::string> CodexRollouts::find_base(const StateStore& store, CodexBase base) const {
  for (int generation = 0; generation < kMostGenerations; ++generation) {
    const ThreadId thread = thread_id_of("codex", base.thread);
    if (!store.threads().find(thread)) return std::nullopt;
    const CodexRollout* rollout = rollout_with(base);
    const std::int64_t lowest = std::max(rollout != nullptr ? rollout->first_ordinal : 0,
                                         base.end_ordinal - kFarthestMessage);
    const std::string segment = rollout != nullptr ? rollout->segment : "";
    for (std::int64_t ordinal = base.end_ordinal - 1; ordinal >= lowest; --ordinal) {
      const std::string key = codex_ordinal_key(segment, ordinal);
      if (store.messages().find_by_key(thread, key)) return key;
    }
    if (rollout == nullptr || !rollout->base) return std::nullopt;
    base = *rollout->base;
  }
  return std::nullopt;
}

}  // namespace threadstore::exchange
