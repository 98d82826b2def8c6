// Reading the message tree, and a fork of a long history.

#include <memory>

#include "tests/bench/raw_store.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {
namespace {

/// Both sides read the same file.
struct SharedFile {
  std::unique_ptr<StateStore> ours;
  std::unique_ptr<RawStore> raw;
  ThreadId thread = made_thread(0);
};

std::shared_ptr<SharedFile> share(const Bench& bench, const StoreShape& shape) {
  const auto directory = bench.scratch();
  auto shared = std::make_shared<SharedFile>();
  shared->ours = std::make_unique<StateStore>(make_store(directory, shape));
  shared->raw = std::make_unique<RawStore>(directory / "state.db");
  return shared;
}

void expect(bool right, const char* what) {
  if (!right) throw std::runtime_error(std::string("the benchmark read something else: ") + what);
}

Sides branch_sides(const Bench& bench, std::int64_t depth, std::size_t most) {
  const auto shared = share(bench, {.threads = 1, .messages = depth});
  const auto wanted = std::min(most, static_cast<std::size_t>(depth));
  return {.ours =
              [shared, wanted] {
                const BranchPage page =
                    shared->ours->messages().list(shared->thread, {.limit = wanted});
                expect(page.messages.size() == wanted, "our branch");
              },
          .raw =
              [shared, wanted] {
                const auto branch =
                    shared->raw->branch(shared->thread.str(), static_cast<std::int64_t>(wanted));
                expect(branch.size() == wanted, "the raw branch");
              }};
}

std::string shown(std::int64_t depth) {
  return depth >= 1000 ? std::to_string(depth / 1000) + " k" : std::to_string(depth);
}

void add_branch(const Bench& bench, std::int64_t depth, int rounds) {
  add(bench, PairedRow{.name = "branch/" + std::to_string(depth),
                       .work = "read a branch of " + shown(depth) + " messages",
                       .goal = Goal::time(1.25),
                       .rounds = rounds,
                       .prepare = [depth](const Bench& b) {
                         return branch_sides(b, depth, static_cast<std::size_t>(depth));
                       }});
}

/// The leaves of a tree of 10,000 messages; branches of 21 that share their first message.
Sides leaf_sides(const Bench& bench) {
  const std::int64_t messages = bench.scale.pick(100, 10'000, 10'000);
  const auto shared = share(bench, {.threads = 1, .messages = messages, .depth = 21});
  sqlite3_stmt* leaves = shared->raw->prepare(
      "SELECT m.id, m.role, m.content, m.item_json, m.created_at, m.parent_entry_id FROM messages"
      " AS m WHERE m.thread_id = ? AND NOT EXISTS (SELECT 1 FROM messages AS c"
      " WHERE c.parent_entry_id = m.id) ORDER BY m.created_at, m.id");
  return {.ours =
              [shared, messages] {
                const auto found = shared->ours->messages().leaves(shared->thread);
                expect(found.size() == static_cast<std::size_t>(messages / 20), "our leaves");
              },
          .raw =
              [shared, leaves, messages] {
                std::vector<RawStore::Message> found;
                bind_text(leaves, 1, shared->thread.str());
                shared->raw->run(leaves, [&](sqlite3_stmt* row) {
                  found.push_back({.id = sqlite3_column_int64(row, 0),
                                   .parent = sqlite3_column_int64(row, 5),
                                   .created_at = sqlite3_column_int64(row, 4),
                                   .role = text_of(row, 1),
                                   .content = text_of(row, 2),
                                   .item = text_of(row, 3)});
                });
                expect(found.size() == static_cast<std::size_t>(messages / 20), "the raw leaves");
              }};
}

/// What a fork is compared with is one append of ours to the same store.
Sides fork_sides(const Bench& bench) {
  const auto directory = bench.scratch();
  auto store = std::make_shared<StateStore>(
      make_store(directory, {.threads = 1, .messages = bench.scale.pick(100, 10'000, 100'000)}));
  const ThreadId source = made_thread(0);
  const int count = bench.scale.pick(1, 20, 50);
  return {.ours =
              [store, source, count] {
                for (int i = 0; i < count; ++i) store->threads().fork({.source = source});
              },
          .raw =
              [store, source, count] {
                for (int i = 0; i < count; ++i) {
                  store->messages().append(source,
                                           {.role = "user", .content = made_content(1024, i)});
                }
              },
          .operations = static_cast<double>(count)};
}

}  // namespace

void add_branch_rows(const Bench& bench) {
  const Scale& scale = bench.scale;
  add_branch(bench, 500, 60);
  if (scale.kind != Scale::Kind::once) add_branch(bench, 10'000, 20);
  if (scale.kind == Scale::Kind::full) add_branch(bench, 100'000, 6);
  const std::int64_t long_branch = scale.pick<std::int64_t>(200, 10'000, 100'000);
  add(bench, PairedRow{.name = "newest_50",
                       .work = "the newest 50 of a branch of " + shown(long_branch),
                       .goal = Goal::at_most(300),
                       .rounds = 60,
                       .prepare = [long_branch](const Bench& b) {
                         return branch_sides(b, long_branch, 50);
                       }});
  add(bench, PairedRow{.name = "leaves",
                       .work = "500 leaves among 10 k messages",
                       .goal = Goal::time(1.1),
                       .rounds = 30,
                       .prepare = leaf_sides});
  add(bench, PairedRow{.name = "fork",
                       .work = "fork of " + shown(scale.pick<std::int64_t>(100, 10'000, 100'000)) +
                               " messages (raw: our append)",
                       .goal = Goal::time(2),
                       .prepare = fork_sides});
}

}  // namespace threadstore::bench
