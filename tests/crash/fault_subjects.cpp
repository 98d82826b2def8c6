#include "tests/crash/fault_subjects.h"

#include "threadstore/maintenance.h"

namespace threadstore::test {
namespace {

const ThreadId one("one");
const ThreadId two("two");

NewMessage message(const std::string& content) { return {.role = "user", .content = content}; }

NewRun new_run(const std::string& key) {
  return {.agent_name = "coder",
          .agent_version = "1",
          .model = "m",
          .input = "task",
          .thread_id = one,
          .key = key};
}

FaultSubject on_store(const std::string& name, const std::function<void(StateStore&)>& call) {
  return {.name = name,
          .call = [call](std::optional<StateStore>& store, const std::filesystem::path&,
                         const OpenOptions&) { call(*store); }};
}

}  // namespace

void make_sample_store(const std::filesystem::path& home, const OpenOptions& options) {
  const auto store = StateStore::open(home / "state.db", options);
  for (const ThreadId& id : {one, two}) {
    store.threads().create({.id = id, .name = "name of " + id.str(), .cwd = "/"});
    store.messages().append_many(id, {message("a"), message("b"), message(std::string(9000, 'c'))});
  }
  store.checkpoints().save(one, {.id = CheckpointId("point")});
  store.goals().set(one, {.objective = "ship"});
  store.jobs().save({.id = JobId("job"), .name = "work"});
  store.runs("/w").create(new_run("sample"));
  store.backup(home / "copy.db");
}

std::vector<FaultSubject> fault_subjects() {
  using Store = std::optional<StateStore>;
  using Path = std::filesystem::path;
  return {
      {.name = "open",
       .call =
           [](Store& store, const Path& home, const OpenOptions& options) {
             store.emplace(StateStore::open(home / "state.db", options));
           },
       .opens = true},
      {.name = "open new",
       .call =
           [](Store& store, const Path& home, const OpenOptions& options) {
             store.emplace(StateStore::open(home / "state.db", options));
           },
       .opens = true,
       .new_store = true},
      on_store("create",
               [](StateStore& s) {
                 s.threads().create({.id = ThreadId("new"), .name = "new", .cwd = "/"});
               }),
      on_store("append", [](StateStore& s) { s.messages().append(one, message("appended")); }),
      on_store("append many",
               [](StateStore& s) {
                 s.messages().append_many(one, {message("x"), message(std::string(30'000, 'y'))});
               }),
      on_store("branch",
               [](StateStore& s) {
                 s.messages().branch_at(one, s.messages().tree(one).front().id, message("branch"));
               }),
      on_store("fork", [](StateStore& s) { s.threads().fork({.source = one, .name = "fork"}); }),
      on_store("rename", [](StateStore& s) { s.threads().rename(one, "renamed"); }),
      on_store("archive", [](StateStore& s) { s.threads().archive(one); }),
      on_store("save checkpoint",
               [](StateStore& s) { s.checkpoints().save(one, {.id = CheckpointId("second")}); }),
      on_store("set goal", [](StateStore& s) { s.goals().set(two, {.objective = "win"}); }),
      on_store("save job", [](StateStore& s) { s.jobs().save({.id = JobId("j2"), .name = "n"}); }),
      on_store("claim job", [](StateStore& s) { s.jobs().claim("worker"); }),
      on_store("create run", [](StateStore& s) { s.runs("/w").create(new_run("fresh")); }),
      on_store("append event",
               [](StateStore& s) {
                 const auto runs = s.runs("/w");
                 runs.log().append(runs.list().items.at(0).id, "note.x");
               }),
      on_store("transaction",
               [](StateStore& s) {
                 s.transaction([&] {
                   s.messages().append(one, message("both"));
                   s.threads().rename(two, "both");
                 });
               }),
      on_store("remove", [](StateStore& s) { s.threads().remove(two); }),
      on_store("clear", [](StateStore& s) { s.messages().clear(two); }),
      on_store("compact", [](StateStore& s) { s.index()->compact(); }),
      on_store("rebuild index", [](StateStore& s) { s.rebuild_index(); }),
      on_store("search", [](StateStore& s) { s.search().find({.text = "name"}); }),
      on_store("list", [](StateStore& s) { s.threads().list(); }),
      on_store("doctor", [](StateStore& s) { s.check(); }),
      {.name = "back up",
       .call = [](Store& store, const Path& home,
                  const OpenOptions&) { store->backup(home / "second.db"); }},
      {.name = "restore",
       .call =
           [](Store& store, const Path& home, const OpenOptions& options) {
             store.reset();
             restore(home / "copy.db", home / "state.db",
                     {.deadline = options.deadline, .clock = options.clock});
             store.emplace(StateStore::open(home / "state.db", options));
           }},
  };
}

}  // namespace threadstore::test
