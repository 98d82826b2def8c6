#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/state/threads/message_fixture.h"

namespace threadstore {
namespace {

using test::error_of;

/// What the store should show, kept the simple way: every thread has its own copy of its tree.
struct ModelThread {
  std::map<MessageId, std::optional<MessageId>> parents;
  std::optional<MessageId> leaf;

  std::vector<MessageId> path(std::optional<MessageId> from) const {
    std::vector<MessageId> upward;
    for (auto id = from; id; id = parents.at(*id)) upward.push_back(*id);
    std::reverse(upward.begin(), upward.end());
    return upward;
  }
  std::vector<MessageId> children(MessageId of) const {
    std::vector<MessageId> found;
    for (const auto& [id, parent] : parents) {
      if (parent == of) found.push_back(id);
    }
    return found;
  }
  std::vector<MessageId> leaves() const {
    std::vector<MessageId> found;
    for (const auto& [id, parent] : parents) {
      if (children(id).empty()) found.push_back(id);
    }
    return found;
  }
  std::vector<MessageId> all() const {
    std::vector<MessageId> found;
    for (const auto& [id, parent] : parents) found.push_back(id);
    return found;
  }
};

class MessageModelTest : public test::MessageStore, public ::testing::WithParamInterface<int> {
 protected:
  using Model = std::map<ThreadId, ModelThread>;

  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  ThreadId any_thread() {
    return std::next(model_.begin(), static_cast<long>(below(model_.size())))->first;
  }
  std::optional<MessageId> any_message(const ModelThread& thread) {
    if (thread.parents.empty()) return std::nullopt;
    return std::next(thread.parents.begin(), static_cast<long>(below(thread.parents.size())))
        ->first;
  }

  void add(const ThreadId& id, std::optional<MessageId> parent, MessageId message) {
    model_[id].parents[message] = parent;
    model_[id].leaf = message;
  }

  void step() {
    // A clock that stands still, goes on and sometimes back.
    now_ += static_cast<UnixSeconds>(below(4)) - 1;
    if (model_.empty() || below(20) == 0) {
      model_[store_.threads().create({}).thread.id];
      return;
    }
    const ThreadId id = any_thread();
    ModelThread& thread = model_[id];
    const auto message = any_message(thread);
    switch (below(12)) {
      case 0:
        store_.threads().remove(id);
        model_.erase(id);
        break;
      case 1:
        EXPECT_EQ(messages_.clear(id).deleted, static_cast<std::int64_t>(thread.parents.size()));
        thread = {};
        break;
      case 2:
      case 3: {
        const ThreadId copy = store_.threads().fork({.source = id, .at = message}).thread.id;
        ModelThread& fork = model_[copy];
        for (const MessageId inherited : thread.path(message)) {
          fork.parents[inherited] = thread.parents.at(inherited);
        }
        fork.leaf = message;
        break;
      }
      case 4:
        messages_.set_current_leaf(id, message);
        thread.leaf = message;
        break;
      case 5:
      case 6:
        if (message) add(id, message, messages_.branch_at(id, *message, {.role = "u"}).id);
        break;
      default:
        add(id, thread.leaf, append(id, "x"));
    }
  }

  void compare(const ThreadId& id, const ModelThread& thread) {
    SCOPED_TRACE("thread " + id.str());
    EXPECT_EQ(store_.threads().get(id).current_leaf_id, thread.leaf);
    EXPECT_EQ(ids(messages_.list(id).messages), thread.path(thread.leaf));
    EXPECT_EQ(ids(messages_.leaves(id)), thread.leaves());
    EXPECT_EQ(ids(messages_.since(id, MessageId{0})), thread.all());
    EXPECT_EQ(messages_.count(id), static_cast<std::int64_t>(thread.parents.size()));
    std::vector<MessageId> drawn;
    for (const TreeNode& node : messages_.tree(id)) {
      drawn.push_back(node.id);
      EXPECT_EQ(node.parent_entry_id, thread.parents.at(node.id));
      EXPECT_EQ(node.children, thread.children(node.id));
    }
    EXPECT_EQ(drawn, thread.all());
    if (const auto message = any_message(thread)) {
      EXPECT_EQ(ids(messages_.children(id, *message)), thread.children(*message));
      EXPECT_EQ(ids(messages_.path_from_root(id, *message)), thread.path(message));
    }
    const MessageId stranger{static_cast<std::int64_t>(below(200)) + 1};
    EXPECT_EQ(messages_.find(id, stranger).has_value(), thread.parents.count(stranger) != 0);
  }

  /// Every message in the file is shown by somebody: nothing that was deleted lingers.
  void compare_all() {
    std::set<MessageId> shown;
    for (const auto& [id, thread] : model_) {
      compare(id, thread);
      for (const MessageId message : thread.all()) shown.insert(message);
    }
    const auto stored = ids(messages_.since(std::nullopt, MessageId{0}, 10'000));
    EXPECT_EQ(stored, std::vector<MessageId>(shown.begin(), shown.end()));
  }

  std::mt19937 random_;
  Model model_;
};

TEST_P(MessageModelTest, ShowsWhatASimpleModelShows) {
  const int seed = GetParam();
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_.seed(static_cast<unsigned>(seed));
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    step();
    if (i % 10 == 9) compare_all();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MessageModelTest, ::testing::Range(1, 13));

}  // namespace
}  // namespace threadstore
