// Durable appends: one message, several in a commit, beside others; in small and in grown stores.

#include <memory>

#include "tests/bench/raw_store.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {
namespace {

/// Two stores of one shape, ours open through the library, the other one raw.
struct Pair {
  std::unique_ptr<StateStore> ours;
  std::unique_ptr<RawStore> raw;
  ThreadId thread = made_thread(0);
  std::int64_t number = 0;

  std::string content() { return made_content(1024, number++); }
};

std::shared_ptr<Pair> make_pair(const Bench& bench, const std::filesystem::path& place,
                                const StoreShape& shape) {
  const auto ours = bench.scratch(place);
  const auto raw = bench.scratch(place);
  make_store(ours, shape);
  copy_store(ours, raw);
  auto pair = std::make_shared<Pair>();
  pair->ours = std::make_unique<StateStore>(StateStore::open(ours / "state.db"));
  pair->raw = std::make_unique<RawStore>(raw / "state.db");
  return pair;
}

Sides append_sides(const Bench& bench, const std::filesystem::path& place,
                   const StoreShape& shape) {
  const auto pair = make_pair(bench, place, shape);
  const int count = bench.scale.pick(3, 100, 200);
  return {.ours =
              [pair, count] {
                Messages messages = pair->ours->messages();
                for (int i = 0; i < count; ++i) {
                  messages.append(pair->thread, {.role = "user", .content = pair->content()});
                }
              },
          .raw =
              [pair, count] {
                for (int i = 0; i < count; ++i) {
                  pair->raw->append(pair->thread.str(), pair->content());
                }
              },
          .operations = static_cast<double>(count)};
}

Sides batch_sides(const Bench& bench, int batch) {
  const auto pair = make_pair(bench, bench.disk, {});
  const int commits = bench.scale.pick(1, 10, 20);
  return {.ours =
              [pair, commits, batch] {
                Messages messages = pair->ours->messages();
                for (int commit = 0; commit < commits; ++commit) {
                  std::vector<NewMessage> chain;
                  for (int i = 0; i < batch; ++i) {
                    chain.push_back({.role = "user", .content = pair->content()});
                  }
                  messages.append_many(pair->thread, chain);
                }
              },
          .raw =
              [pair, commits, batch] {
                for (int commit = 0; commit < commits; ++commit) {
                  std::vector<std::string> chain;
                  for (int i = 0; i < batch; ++i) chain.push_back(pair->content());
                  pair->raw->append_many(pair->thread.str(), chain);
                }
              },
          .operations = static_cast<double>(commits * batch)};
}

/// Each message under the first one, which both stores call 1.
Sides branch_at_sides(const Bench& bench) {
  const auto pair = make_pair(bench, bench.disk, {.threads = 1, .messages = 100});
  const int count = bench.scale.pick(3, 100, 200);
  return {.ours =
              [pair, count] {
                Messages messages = pair->ours->messages();
                for (int i = 0; i < count; ++i) {
                  messages.branch_at(pair->thread, MessageId{1},
                                     {.role = "user", .content = pair->content()});
                }
              },
          .raw =
              [pair, count] {
                for (int i = 0; i < count; ++i) {
                  pair->raw->append(pair->thread.str(), pair->content(), 1);
                }
              },
          .operations = static_cast<double>(count)};
}

void add_grown(const Bench& bench, std::int64_t messages, const std::string& words) {
  add(bench, PairedRow{.name = "append/disk/" + words,
                       .work = "append of 1 KiB to a store of " + words + " messages, disk",
                       .goal = Goal::speed(0.95),
                       .rounds = 20,
                       .prepare = [messages](const Bench& b) {
                         return append_sides(b, b.disk,
                                             {.threads = messages / 10, .messages = messages});
                       }});
}

}  // namespace

void add_append_rows(const Bench& bench) {
  add(bench, PairedRow{.name = "append/disk",
                       .work = "append of 1 KiB, disk",
                       .goal = Goal::speed(0.95),
                       .rounds = 30,
                       .prepare = [](const Bench& b) { return append_sides(b, b.disk, {}); }});
  if (!bench.tmpfs.empty()) {
    add(bench, PairedRow{.name = "append/tmpfs",
                         .work = "append of 1 KiB, tmpfs",
                         .goal = Goal::speed(0.8),
                         .rounds = 60,
                         .prepare = [](const Bench& b) { return append_sides(b, b.tmpfs, {}); }});
  }
  for (const int batch : {10, 100}) {
    const std::string words = std::to_string(batch) + " in one commit";
    add(bench, PairedRow{.name = "append_many/" + std::to_string(batch),
                         .work = "append, " + words + ", disk (a message)",
                         .goal = Goal::speed(0.9),
                         .prepare = [batch](const Bench& b) { return batch_sides(b, batch); }});
  }
  add(bench, PairedRow{.name = "branch_at",
                       .work = "branch at a message, disk",
                       .goal = Goal::speed(0.95),
                       .prepare = branch_at_sides});
  const Scale& scale = bench.scale;
  if (scale.kind != Scale::Kind::once) add_grown(bench, 10'000, "10 k");
  if (scale.kind == Scale::Kind::once) add_grown(bench, 100, "100");
  if (scale.kind != Scale::Kind::full) return;
  add_grown(bench, 100'000, "100 k");
  add_grown(bench, 1'000'000, "1 M");
}

}  // namespace threadstore::bench
