#include "tests/process/history.h"

#include <set>
#include <sstream>
#include <utility>

namespace threadstore::test {
namespace {

/// "r7w2-13" → "r7w2" and 13.
std::pair<std::string, int> split(const std::string& word) {
  const auto dash = word.rfind('-');
  if (dash == std::string::npos) return {word, -1};
  return {word.substr(0, dash), std::stoi(word.substr(dash + 1))};
}

/// When a name was given: the round, then the number in it.
std::pair<int, int> moment_of(const std::string& name) {
  return {std::stoi(name.substr(1)), split(name).second};
}

std::string shown(MessageId id) { return std::to_string(to_int(id)); }

std::vector<Message> all_of(const StateStore& store, const ThreadId& thread) {
  std::vector<Message> all;
  for (;;) {
    const MessageId last = all.empty() ? MessageId{} : all.back().id;
    const auto page = store.messages().since(thread, last);
    if (page.empty()) return all;
    all.insert(all.end(), page.begin(), page.end());
  }
}

}  // namespace

void History::acknowledge(std::size_t writer, const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  words >> kind;
  if (kind == "named") {
    words >> names_.at(writer).emplace();
    return;
  }
  if (kind != "own" && kind != "shared") return;
  std::int64_t id = 0;
  std::string word;
  words >> id >> word;
  acknowledged_[kind == "own" ? own_.at(writer) : shared_][static_cast<MessageId>(id)] = word;
  ++count_;
}

void History::check_thread(const StateStore& store, const ThreadId& thread,
                           const Messages& acknowledged, std::vector<std::string>& found) {
  const auto say = [&](const std::string& what) {
    found.push_back("thread " + thread.str() + ": " + what);
  };
  const std::vector<Message> stored = all_of(store, thread);
  Messages contents;
  std::map<std::string, int> next;  // of each writer's round
  std::optional<MessageId> before;
  for (const Message& message : stored) {
    contents[message.id] = message.content;
    const auto [writer, number] = split(message.content);
    if (const int wanted = next[writer]++; number != wanted) {
      say("message " + shown(message.id) + " is " + message.content + " where " + writer + "-" +
          std::to_string(wanted) + " was to come");
      next[writer] = number + 1;
    }
    if (message.parent_entry_id != before) {
      say("message " + shown(message.id) + " has the parent " +
          (message.parent_entry_id ? shown(*message.parent_entry_id) : "none") + " and not " +
          (before ? shown(*before) : "none"));
    }
    before = message.id;
  }
  for (const auto& [id, word] : acknowledged) {
    const auto there = contents.find(id);
    if (there == contents.end()) {
      say("message " + shown(id) + " (" + word + ") was acknowledged and is lost");
    } else if (there->second != word) {
      say("message " + shown(id) + " was acknowledged as " + word + " and is " + there->second);
    }
  }
  const auto leaf = store.threads().get(thread).current_leaf_id;
  if (leaf != before) {
    say("its leaf is " + (leaf ? shown(*leaf) : "none") + " and not its last message " +
        (before ? shown(*before) : "none"));
  }
}

std::vector<std::string> History::violations(const StateStore& store) const {
  std::vector<std::string> found;
  static const Messages none;
  const auto check = [&](const ThreadId& thread) {
    const auto known = acknowledged_.find(thread);
    check_thread(store, thread, known == acknowledged_.end() ? none : known->second, found);
  };
  for (std::size_t writer = 0; writer < own_.size(); ++writer) {
    check(own_[writer]);
    const auto name = store.threads().get(own_[writer]).name;
    const auto& wanted = names_[writer];
    if (wanted && (!name || moment_of(*name) < moment_of(*wanted))) {
      found.push_back("thread " + own_[writer].str() + ": its name is " + name.value_or("none") +
                      " after " + *wanted + " was acknowledged");
    }
  }
  check(shared_);
  return found;
}

}  // namespace threadstore::test
