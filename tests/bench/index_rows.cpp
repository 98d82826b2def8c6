// The session index: appends whatever its length, look-ups, and what compaction costs.

#include <memory>

#include "tests/bench/canary.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"
#include "threadstore/session_index.h"

namespace threadstore::bench {
namespace {

IndexEntry entry_of(std::int64_t number) {
  return {.thread_id = made_thread(number),
          .thread_name = "session " + std::to_string(number),
          .updated_at = 1'700'000'000 + number,
          .rollout_path =
              "/home/user/.codewhale/sessions/rollout-" + std::to_string(number) + ".jsonl"};
}

/// An index of that many threads, one line each.
std::filesystem::path make_index(const Bench& bench, std::int64_t threads) {
  const auto file = bench.scratch() / "session_index.jsonl";
  SessionIndex index(file);
  std::vector<IndexEntry> entries;
  for (std::int64_t number = 0; number < threads; ++number) entries.push_back(entry_of(number));
  if (!entries.empty()) index.append(entries);
  return file;
}

/// Beside the least that such an append can be: the same bytes written to a file, and synced.
Sides append_sides(const Bench& bench, std::int64_t lines) {
  const auto file = make_index(bench, lines);
  const auto index = std::make_shared<SessionIndex>(file);
  const auto canary = std::make_shared<Canary>(bench.scratch(), 150);
  const int count = bench.scale.pick(3, 50, 100);
  return {.ours =
              [index, count] {
                for (int i = 0; i < count; ++i) index->append(entry_of(i));
              },
          .raw =
              [canary, count] {
                for (int i = 0; i < count; ++i) canary->sing();
              },
          .operations = static_cast<double>(count)};
}

/// One line an append, in an index whose lines are mostly superseded, so that it is compacted again
/// and again.
std::vector<Line> compaction_lines(const Bench& bench) {
  const std::int64_t lines = bench.scale.pick<std::int64_t>(20, 9'000, 20'000);
  const auto file = make_index(bench, 100);
  SessionIndex index(file);
  double appended = 0;
  double with_compaction = 0;
  std::int64_t compactions = 0;
  for (std::int64_t number = 0; number < lines; ++number) {
    const IndexEntry entry = entry_of(number % 100);
    const auto before = std::filesystem::file_size(file);
    const double took = seconds_of([&] { index.append(entry); });
    const bool compacted = std::filesystem::file_size(file) < before;
    compactions += compacted ? 1 : 0;
    (compacted ? with_compaction : appended) += took;
  }
  return {{.work = "compaction's share of the time of " + std::to_string(lines) +
                   " index appends (" + std::to_string(compactions) + " compactions)",
           .unit = "%",
           .ours = with_compaction / (appended + with_compaction) * 100,
           .goal = Goal::at_most(5)}};
}

Sides first_look_sides(const Bench& bench, std::int64_t threads) {
  const auto file = make_index(bench, threads);
  const std::int64_t wanted = threads / 2;
  return {.ours = [file, wanted] {
    const SessionIndex index(file);
    if (!index.find(made_thread(wanted))) throw std::runtime_error("the index lost a thread");
  }};
}

Sides warm_sides(const Bench& bench, std::int64_t threads, bool by_name) {
  const auto index = std::make_shared<SessionIndex>(make_index(bench, threads));
  constexpr int count = 1000;
  return {.ours =
              [index, threads, by_name] {
                for (int i = 0; i < count; ++i) {
                  const std::int64_t number = i * 7919 % threads;
                  const bool found =
                      by_name ? !index->find_by_name("session " + std::to_string(number)).empty()
                              : index->find(made_thread(number)).has_value();
                  if (!found) throw std::runtime_error("the index lost a thread");
                }
              },
          .operations = count};
}

std::string shown(std::int64_t number) {
  return number >= 1000 ? std::to_string(number / 1000) + " k" : std::to_string(number);
}

void add_look_ups(const Bench& bench, std::int64_t threads) {
  const std::string size = std::to_string(threads);
  const std::string of = " among " + shown(threads) + " threads";
  add(bench,
      PairedRow{.name = "index/first/" + size,
                .work = "first index look-up of a process" + of,
                .goal = Goal::at_most(40'000),
                .rounds = 20,
                .prepare = [threads](const Bench& b) { return first_look_sides(b, threads); }});
  for (const bool by_name : {false, true}) {
    add(bench, PairedRow{.name = std::string("index/by_") + (by_name ? "name/" : "id/") + size,
                         .work = std::string("index look-up by ") + (by_name ? "name" : "id") +
                                 ", warm," + of,
                         .goal = Goal::at_most(by_name ? 20 : 2),
                         .prepare = [threads, by_name](const Bench& b) {
                           return warm_sides(b, threads, by_name);
                         }});
  }
}

}  // namespace

void add_index_rows(const Bench& bench) {
  const Scale& scale = bench.scale;
  for (const std::int64_t lines : {0, 5000, 100'000}) {
    const std::int64_t size = scale.kind == Scale::Kind::once ? lines / 1000 : lines;
    add(bench, PairedRow{.name = "index/append/" + std::to_string(size),
                         .work = "index append at " + shown(size) + " lines (raw: write + sync)",
                         .goal = Goal::time(1.1),
                         .prepare = [size](const Bench& b) { return append_sides(b, size); }});
  }
  add(bench, FreeRow{.name = "index/compaction", .run = compaction_lines});
  add_look_ups(bench, scale.pick<std::int64_t>(100, 1000, 1000));
  if (scale.kind != Scale::Kind::once) add_look_ups(bench, 100'000);
}

}  // namespace threadstore::bench
