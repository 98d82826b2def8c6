// Checkpoints and the events of runs.

#include <memory>

#include "tests/bench/raw_store.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {
namespace {

struct Pair {
  std::unique_ptr<StateStore> ours;
  std::unique_ptr<RawStore> raw;
  ThreadId thread = made_thread(0);
};

std::shared_ptr<Pair> make_pair(const Bench& bench,
                                const std::function<void(StateStore&)>& prepare = {}) {
  const auto ours = bench.scratch();
  const auto raw = bench.scratch();
  {
    StateStore store = make_store(ours, {.threads = 1, .messages = 1});
    if (prepare) prepare(store);
  }
  copy_store(ours, raw);
  auto pair = std::make_shared<Pair>();
  pair->ours = std::make_unique<StateStore>(StateStore::open(ours / "state.db"));
  pair->raw = std::make_unique<RawStore>(raw / "state.db");
  return pair;
}

/// A JSON document of about ten KiB, as an agent's state is.
const std::string& state_json() {
  static const std::string text = [] {
    std::string json = R"({"turn":7,"items":[)";
    for (int i = 0; json.size() < 10'200; ++i) {
      if (i > 0) json += ',';
      json +=
          R"({"file":"src/module_)" + std::to_string(i) + R"(.cpp","lines":[1,2,3],"done":true})";
    }
    return json + "]}";
  }();
  return text;
}

Sides save_sides(const Bench& bench) {
  const auto pair = make_pair(bench);
  sqlite3_stmt* leaf = pair->raw->prepare("SELECT current_leaf_id FROM threads WHERE id = ?");
  sqlite3_stmt* newest = pair->raw->prepare(
      "SELECT created_at, save_order FROM checkpoints WHERE thread_id = ?"
      " ORDER BY created_at DESC, save_order DESC LIMIT 1");
  sqlite3_stmt* save = pair->raw->prepare(
      "INSERT INTO checkpoints (thread_id, checkpoint_id, state_json, created_at, leaf_id,"
      " save_order) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id, checkpoint_id) DO UPDATE SET"
      " state_json = excluded.state_json, created_at = excluded.created_at,"
      " leaf_id = excluded.leaf_id, save_order = excluded.save_order");
  const int count = bench.scale.pick(3, 50, 100);
  const auto number = std::make_shared<std::array<int, 2>>();
  return {.ours =
              [pair, count, number] {
                Checkpoints checkpoints = pair->ours->checkpoints();
                for (int i = 0; i < count; ++i) {
                  checkpoints.save(pair->thread,
                                   {.id = CheckpointId("turn-" + std::to_string((*number)[0]++)),
                                    .state = state_json()});
                }
              },
          .raw =
              [pair, leaf, newest, save, count, number] {
                RawStore& raw = *pair->raw;
                for (int i = 0; i < count; ++i) {
                  const std::string id = "turn-" + std::to_string((*number)[1]++);
                  std::int64_t at = 0;
                  std::int64_t created = 1'700'000'000;
                  std::int64_t order = 1;
                  raw.begin();
                  bind_text(leaf, 1, pair->thread.str());
                  raw.run(leaf, [&](sqlite3_stmt* row) { at = sqlite3_column_int64(row, 0); });
                  bind_text(newest, 1, pair->thread.str());
                  raw.run(newest, [&](sqlite3_stmt* row) {
                    created = sqlite3_column_int64(row, 0);
                    order = sqlite3_column_int64(row, 1) + 1;
                  });
                  bind_text(save, 1, pair->thread.str());
                  bind_text(save, 2, id);
                  bind_text(save, 3, state_json());
                  sqlite3_bind_int64(save, 4, created);
                  sqlite3_bind_int64(save, 5, at);
                  sqlite3_bind_int64(save, 6, order);
                  raw.run(save);
                  raw.commit();
                }
              },
          .operations = static_cast<double>(count)};
}

Sides load_sides(const Bench& bench) {
  const auto pair = make_pair(bench, [](StateStore& store) {
    for (int i = 0; i < 100; ++i) {
      store.checkpoints().save(
          made_thread(0), {.id = CheckpointId("turn-" + std::to_string(i)), .state = state_json()});
    }
  });
  sqlite3_stmt* latest = pair->raw->prepare(
      "SELECT state_json FROM checkpoints WHERE thread_id = ?"
      " ORDER BY created_at DESC, save_order DESC, checkpoint_id DESC LIMIT 1");
  constexpr int count = 100;
  return {.ours =
              [pair] {
                for (int i = 0; i < count; ++i) pair->ours->checkpoints().latest(pair->thread);
              },
          .raw =
              [pair, latest] {
                for (int i = 0; i < count; ++i) {
                  std::string state;
                  bind_text(latest, 1, pair->thread.str());
                  pair->raw->run(latest, [&](sqlite3_stmt* row) { state = text_of(row, 0); });
                }
              },
          .operations = count};
}

RunId new_run(Runs& runs) {
  return runs.create({.agent_name = "coder", .agent_version = "1", .model = "m"}).id;
}

std::string event_payload() { return R"({"text":")" + made_content(1000, 1) + R"("})"; }

void append_events(const StateStore& store, const RunId& run, std::int64_t events,
                   const std::string& payload) {
  RunLog log = store.runs("bench").log();
  for (std::int64_t written = 0; written < events;) {
    store.transaction([&] {
      for (int i = 0; i < 1000 && written < events; ++i, ++written) {
        log.append(run, "note.text", payload);
      }
    });
  }
}

/// Our event beside a raw append of a message of the same size.
Sides event_sides(const Bench& bench, std::int64_t events) {
  const auto directory = bench.scratch();
  StateStore store = make_store(directory, {.threads = 1});
  Runs runs = store.runs("bench");
  const RunId run = new_run(runs);
  const std::string payload = event_payload();
  append_events(store, run, events, payload);
  const auto raw_directory = bench.scratch();
  make_store(raw_directory, {.threads = 1});
  const auto raw = std::make_shared<RawStore>(raw_directory / "state.db");
  const int count = bench.scale.pick(3, 100, 200);
  return {.ours =
              [store, runs, run, payload, count] {
                for (int i = 0; i < count; ++i) runs.log().append(run, "note.text", payload);
              },
          .raw =
              [raw, payload, count] {
                for (int i = 0; i < count; ++i) raw->append(made_thread(0).str(), payload);
              },
          .operations = static_cast<double>(count)};
}

void add_event(const Bench& bench, std::int64_t events) {
  add(bench,
      PairedRow{.name = "run_event/" + std::to_string(events),
                .work = "run event of 1 KiB after " + std::to_string(events) + " (raw: append)",
                .goal = Goal::speed(0.8),
                .prepare = [events](const Bench& b) { return event_sides(b, events); }});
}

/// The events at the end of a long run beside the first ones of new runs in a small store, both
/// ours: what an event costs must not depend on how many there are.
Sides growth_sides(const Bench& bench, const std::filesystem::path& place, std::int64_t events) {
  const StateStore large = make_store(bench.scratch(place), {.threads = 1});
  const StateStore small = make_store(bench.scratch(place), {.threads = 1});
  Runs long_runs = large.runs("bench");
  Runs new_runs = small.runs("bench");
  const RunId run = new_run(long_runs);
  append_events(large, run, events, R"({"n":1})");
  const auto fresh = std::make_shared<std::vector<RunId>>();
  constexpr std::size_t most_rounds = 64;
  for (std::size_t i = 0; i < most_rounds; ++i) fresh->push_back(new_run(new_runs));
  const std::string payload = event_payload();
  const int count = bench.scale.pick(3, 50, 200);
  return {.ours =
              [large, long_runs, run, payload, count] {
                for (int i = 0; i < count; ++i) long_runs.log().append(run, "note.text", payload);
              },
          .raw =
              [small, new_runs, fresh, payload, count] {
                const RunId first = fresh->back();
                fresh->pop_back();
                for (int i = 0; i < count; ++i) new_runs.log().append(first, "note.text", payload);
              },
          .operations = static_cast<double>(count)};
}

void add_growth(const Bench& bench, const std::string& where, std::filesystem::path Bench::*place) {
  const std::int64_t events = bench.scale.pick<std::int64_t>(200, 100'000, 100'000);
  add(bench, PairedRow{.name = "run_event/growth_" + where,
                       .work = "run event after " + std::to_string(events) + ", " + where +
                               " (raw: ours, the first of a run)",
                       .goal = Goal::time(1.2),
                       .prepare = [place, events](const Bench& b) {
                         return growth_sides(b, b.*place, events);
                       }});
}

}  // namespace

void add_record_rows(const Bench& bench) {
  add(bench, PairedRow{.name = "checkpoint/save",
                       .work = "save a checkpoint of 10 KiB, disk",
                       .goal = Goal::speed(0.95),
                       .prepare = save_sides});
  add(bench, PairedRow{.name = "checkpoint/latest",
                       .work = "load the latest checkpoint, checked (raw: unchecked)",
                       .goal = Goal::at_most(30),
                       .rounds = 30,
                       .prepare = load_sides});
  add_event(bench, 0);
  add_event(bench, bench.scale.pick<std::int64_t>(20, 20'000, 20'000));
  add_growth(bench, "disk", &Bench::disk);
  // To write 100,000 events takes seconds, of which a quick run has few.
  const bool quick = bench.scale.kind == Scale::Kind::quick;
  if (!quick && !bench.tmpfs.empty()) add_growth(bench, "tmpfs", &Bench::tmpfs);
}

}  // namespace threadstore::bench
