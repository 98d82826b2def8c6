#include "tests/bench/store_maker.h"

#include <algorithm>
#include <array>

namespace threadstore::bench {
namespace {

constexpr std::int64_t threads_per_commit = 2000;
constexpr std::int64_t messages_per_commit = 4000;
constexpr UnixSeconds first_day = 1'700'000'000;

template <class T, std::size_t N>
const T& nth(const std::array<T, N>& values, std::int64_t number) {
  return values[static_cast<std::size_t>(number) % N];
}

NewThread new_thread(std::int64_t number) {
  static const std::array<std::string, 3> providers{"acme", "initech", "globex"};
  static constexpr std::array sources{SessionSource::interactive, SessionSource::interactive,
                                      SessionSource::api, SessionSource::resume};
  NewThread thread{.id = made_thread(number),
                   .cwd = "/work/project-" + std::to_string(number % 50),
                   .preview = "what was asked first in conversation " + std::to_string(number),
                   .model_provider = nth(providers, number),
                   .cli_version = "0.1.0",
                   .source = nth(sources, number),
                   .created_at = first_day + number,
                   .updated_at = first_day + number};
  if (number % 2 == 0) thread.name = "session " + std::to_string(number);
  return thread;
}

/// Adds the messages of one thread from `begin` to `end` of its own numbers, within one branch.
void add_messages(Messages& messages, const ThreadId& thread, const StoreShape& shape,
                  std::int64_t begin, std::int64_t end, std::optional<MessageId>& root) {
  std::vector<NewMessage> batch;
  batch.reserve(static_cast<std::size_t>(end - begin));
  for (std::int64_t number = begin; number < end; ++number) {
    batch.push_back({.role = number % 2 == 0 ? "user" : "assistant",
                     .content = made_content(shape.bytes, number),
                     .created_at = first_day + number});
  }
  const AppendedMany stored = messages.append_many(thread, batch);
  if (!root) root = stored.ids.front();
}

/// Writes a thread's share; the first branch, of the full depth, ends as the active one.
class ThreadWriter {
 public:
  ThreadWriter(StateStore& store, ThreadId thread, const StoreShape& shape, std::int64_t share)
      : messages_(store.messages()), thread_(std::move(thread)), shape_(shape), share_(share) {}

  bool done() const { return written_ == share_; }

  /// At most `most` messages more; how many they were.
  std::int64_t write(std::int64_t most) {
    const std::int64_t before = written_;
    while (!done() && written_ - before < most) {
      const std::int64_t depth = shape_.depth > 0 ? shape_.depth : share_;
      if (branch_ >= depth) begin_branch();
      const std::int64_t count = std::min({most - (written_ - before), share_ - written_,
                                           std::max<std::int64_t>(1, depth - branch_)});
      add_messages(messages_, thread_, shape_, written_, written_ + count, root_);
      written_ += count;
      branch_ += count;
    }
    if (done() && first_tip_) messages_.set_current_leaf(thread_, first_tip_);
    return written_ - before;
  }

 private:
  void begin_branch() {
    if (!first_tip_) first_tip_ = messages_.list(thread_, {.limit = 1}).messages.front().id;
    messages_.set_current_leaf(thread_, root_);
    branch_ = 1;
  }

  Messages messages_;
  ThreadId thread_;
  const StoreShape& shape_;
  std::int64_t share_;
  std::int64_t written_ = 0;
  std::int64_t branch_ = 0;  ///< depth of the branch that grows
  std::optional<MessageId> root_;
  std::optional<MessageId> first_tip_;
};

void add_threads(StateStore& store, const StoreShape& shape, const Progress& progress) {
  for (std::int64_t number = 0; number < shape.threads;) {
    const std::int64_t end = std::min(shape.threads, number + threads_per_commit);
    store.transaction([&] {
      for (; number < end; ++number) store.threads().create(new_thread(number));
    });
    if (progress) progress(number, shape.threads + shape.messages);
  }
}

}  // namespace

ThreadId made_thread(std::int64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 9 - std::min<std::size_t>(9, digits.size()), '0');
  return ThreadId("bench-" + digits);
}

std::string made_content(std::size_t bytes, std::int64_t number) {
  static const std::string words = "the quick brown fox jumps over the lazy dog and runs away; ";
  std::string content = std::to_string(number) + ": ";
  while (content.size() < bytes) content += words;
  content.resize(bytes);
  return content;
}

void fill_store(StateStore& store, const StoreShape& shape, const Progress& progress) {
  add_threads(store, shape, progress);
  std::int64_t done = 0;
  std::int64_t thread = 0;
  std::optional<ThreadWriter> writer;
  while (thread < shape.threads || writer) {
    store.transaction([&] {
      std::int64_t room = messages_per_commit;
      while (room > 0 && (thread < shape.threads || writer)) {
        if (!writer) {
          const std::int64_t share =
              shape.messages / shape.threads + (thread < shape.messages % shape.threads ? 1 : 0);
          writer.emplace(store, made_thread(thread++), shape, share);
        }
        const std::int64_t count = writer->write(room);
        room -= std::max<std::int64_t>(1, count);
        done += count;
        if (writer->done()) writer.reset();
      }
    });
    if (progress) progress(shape.threads + done, shape.threads + shape.messages);
  }
}

StateStore make_store(const std::filesystem::path& directory, const StoreShape& shape,
                      const Progress& progress) {
  StateStore store = StateStore::open(directory / "state.db");
  fill_store(store, shape, progress);
  return store;
}

void copy_store(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::create_directories(to);
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("state.db") || name == "session_index.jsonl") {
      std::filesystem::copy_file(entry.path(), to / name);
    }
  }
}

}  // namespace threadstore::bench
