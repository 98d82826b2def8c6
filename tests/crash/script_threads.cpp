// Steps on threads and their messages.
#include <algorithm>

#include "tests/crash/store_script.h"

namespace threadstore::test {
namespace {

/// Takes a thread away, but never the last two.
std::optional<ThreadId> thread_to_lose(ScriptWorld& world) {
  if (world.threads.size() < 3) return std::nullopt;
  const auto at = static_cast<std::ptrdiff_t>(world.number() % world.threads.size());
  const ThreadId id = world.threads[static_cast<std::size_t>(at)];
  world.threads.erase(world.threads.begin() + at);
  return id;
}

}  // namespace

std::vector<ScriptStep> thread_steps() {
  using W = ScriptWorld;
  return {
      {"create",
       [](W& w) { w.threads.push_back(w.store().threads().create({.cwd = "/"}).thread.id); }},
      {"create named",
       [](W& w) {
         w.threads.push_back(
             w.store()
                 .threads()
                 .create(
                     {.name = w.word("name"), .cwd = "/", .rollout_path = "/r/" + w.word("path")})
                 .thread.id);
       }},
      {"upsert",
       [](W& w) {
         Thread thread = w.store().threads().get(w.thread());
         thread.preview = w.text("preview");
         thread.name = w.word("upserted");
         w.store().threads().upsert(thread);
       }},
      {"rename", [](W& w) { w.store().threads().rename(w.thread(), w.word("renamed")); }},
      {"update",
       [](W& w) {
         w.store().threads().update(w.thread(), {.git_branch = w.word("branch"), .cwd = "/else"});
       }},
      {"touch", [](W& w) { w.store().threads().touch(w.thread(), w.word("preview")); }},
      {"archive", [](W& w) { w.store().threads().archive(w.thread()); }},
      {"unarchive", [](W& w) { w.store().threads().unarchive(w.thread()); }},
      {"set status",
       [](W& w) { w.store().threads().set_status(w.thread(), ThreadStatus::running); }},
      {"set memory mode",
       [](W& w) { w.store().threads().set_memory_mode(w.thread(), w.word("mode")); }},
      {"fork",
       [](W& w) {
         const ThreadId source = w.thread();
         w.threads.push_back(
             w.store().threads().fork({.source = source, .name = w.word("fork")}).thread.id);
       }},
      {"remove",
       [](W& w) {
         if (const auto id = thread_to_lose(w)) w.store().threads().remove(*id);
       }},
  };
}

std::vector<ScriptStep> message_steps() {
  using W = ScriptWorld;
  return {
      {"append", [](W& w) { w.store().messages().append(w.thread(), w.message()); }},
      {"append with an item",
       [](W& w) {
         w.store().messages().append(
             w.thread(), {.role = "assistant", .content = w.text("reply"), .item = "{\"a\":1}"});
       }},
      {"append with a key",
       [](W& w) { w.store().messages().append(w.thread(), w.message(), {.key = w.word("key")}); }},
      {"append many",
       [](W& w) {
         std::vector<NewMessage> batch;
         for (std::uint64_t i = 0; i < 2 + w.number() % 20; ++i) batch.push_back(w.message());
         w.store().messages().append_many(w.thread(), batch);
       }},
      {"append some hundred pages",
       [](W& w) {
         w.store().messages().append(
             w.thread(), {.role = "tool", .content = std::string(600'000, 'y') + w.word("big")});
       }},
      {"set current leaf",
       [](W& w) {
         const ThreadId thread = w.thread();
         w.store().messages().set_current_leaf(
             thread, w.store().messages().newest_id() == MessageId{}
                         ? std::nullopt
                         : w.store().threads().get(thread).current_leaf_id);
       }},
      {"branch",
       [](W& w) {
         const ThreadId thread = w.thread();
         const auto nodes = w.store().messages().tree(thread);
         if (nodes.empty()) return;
         w.store().messages().branch_at(thread, w.pick(nodes).id, w.message());
       }},
      {"switch branch",
       [](W& w) {
         const ThreadId thread = w.thread();
         const auto leaves = w.store().messages().leaves(thread);
         if (!leaves.empty()) w.store().messages().set_current_leaf(thread, w.pick(leaves).id);
       }},
      {"clear", [](W& w) { w.store().messages().clear(w.thread()); }},
      {"a transaction of several",
       [](W& w) {
         const ThreadId thread = w.thread();
         w.store().transaction([&] {
           w.store().messages().append(thread, w.message());
           w.store().threads().rename(thread, w.word("together"));
           w.store().messages().append(w.thread(), w.message());
         });
       }},
  };
}

}  // namespace threadstore::test
