#pragma once

#include <ostream>
#include <vector>

#include "cli/terminal/conversation.h"
#include "threadstore/messages.h"

namespace threadstore::cli {

/// Draws a message tree, one line a message, parents above children, the current leaf marked.
///
///     ○ #1 user  Hello
///     ○ #2 assistant  Hi
///     ├─○ #3 user  A first idea
///     │ ○ #4 assistant  …
///     ○ #5 user  A better one
///     ● #6 assistant  …  ← current
///
/// A chain goes straight down however long it is. Where it branches, one child goes on straight:
/// the one towards the current leaf, else the one with the most messages below; the others stand
/// indented above it. So the indentation grows with the logarithm of the size at most, and 100,000
/// messages of any shape are drawn in linear time without recursion.
void print_tree(std::ostream& out, const std::vector<TreeNode>& nodes, const Look& look);

}  // namespace threadstore::cli
