#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "cli/terminal/tree.h"

namespace threadstore::cli {
namespace {

// Nodes from their parents (0: a root), numbered from 1; the text of each is its number in letters.
std::vector<TreeNode> tree_of(const std::vector<std::int64_t>& parents, std::int64_t leaf) {
  std::vector<TreeNode> nodes;
  for (const std::int64_t parent : parents) {
    const auto id = static_cast<std::int64_t>(nodes.size()) + 1;
    TreeNode node;
    node.id = MessageId{id};
    node.role = "user";
    node.preview = "text";
    node.is_current_leaf = id == leaf;
    if (parent != 0) {
      node.parent_entry_id = MessageId{parent};
      nodes.at(static_cast<std::size_t>(parent - 1)).children.push_back(node.id);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::string drawn(const std::vector<TreeNode>& nodes, std::size_t width = 0) {
  std::ostringstream out;
  print_tree(out, nodes, {.width = width});
  return out.str();
}

TEST(TreeDrawingTest, AChainGoesStraightDown) {
  EXPECT_EQ(drawn(tree_of({0, 1, 2}, 3)),
            "○ #1 user  text\n"
            "○ #2 user  text\n"
            "● #3 user  text  ← current\n");
}

TEST(TreeDrawingTest, TheActiveBranchGoesOnAndOthersStandAside) {
  EXPECT_EQ(drawn(tree_of({0, 1, 2, 1, 4, 3}, 5)),
            "○ #1 user  text\n"
            "├─○ #2 user  text\n"
            "│ ○ #3 user  text\n"
            "│ ○ #6 user  text\n"
            "○ #4 user  text\n"
            "● #5 user  text  ← current\n");
}

TEST(TreeDrawingTest, ABranchOfABranchIsIndentedTwice) {
  EXPECT_EQ(drawn(tree_of({0, 1, 2, 2, 4, 1}, 6)),
            "○ #1 user  text\n"
            "├─○ #2 user  text\n"
            "│ ├─○ #3 user  text\n"
            "│ ○ #4 user  text\n"
            "│ ○ #5 user  text\n"
            "● #6 user  text  ← current\n");
}

TEST(TreeDrawingTest, SeveralRootsFollowEachOther) {
  EXPECT_EQ(drawn(tree_of({0, 0, 1}, 2)),
            "○ #1 user  text\n"
            "○ #3 user  text\n"
            "● #2 user  text  ← current\n");
}

TEST(TreeDrawingTest, AnInnerMessageCanBeTheCurrentLeaf) {
  EXPECT_EQ(drawn(tree_of({0, 1}, 1)),
            "● #1 user  text  ← current\n"
            "○ #2 user  text\n");
}

TEST(TreeDrawingTest, NothingForAnEmptyTree) { EXPECT_EQ(drawn({}), ""); }

TEST(TreeDrawingTest, TextIsEscapedAndCut) {
  std::vector<TreeNode> nodes = tree_of({0}, 0);
  nodes[0].preview = "\x1b[2J中文中文中文中文中文";
  EXPECT_EQ(drawn(nodes, 26), "○ #1 user  \\x1b[2J中文中…\n");
}

TEST(TreeDrawingTest, AHundredThousandMessagesOfAnyShapeStayNarrow) {
  constexpr std::int64_t size = 100'000;
  std::vector<std::int64_t> chain;
  std::vector<std::int64_t> comb;  // every even message branches off a chain of the odd ones
  std::vector<std::int64_t> star;
  std::vector<std::int64_t> binary;
  for (std::int64_t id = 1; id <= size; ++id) {
    chain.push_back(id - 1);
    comb.push_back(id <= 1 ? 0 : (id % 2 == 0 ? id - 1 : id - 2));
    star.push_back(id == 1 ? 0 : 1);
    binary.push_back(id / 2);
  }
  for (const auto& parents : {chain, comb, star, binary}) {
    const std::string text = drawn(tree_of(parents, size));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), size);
    std::size_t longest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    EXPECT_LT(longest, 120U);
  }
}

}  // namespace
}  // namespace threadstore::cli
