#include "exchange/segments.h"

#include <algorithm>

namespace threadstore::exchange {
namespace {

/// A segment that is still to be made: it begins with this node.
struct Waiting {
  std::size_t node = 0;
  std::optional<std::size_t> parent{};
  std::size_t position = 0;
};

std::vector<std::size_t> root_nodes(const ExportSource& source) {
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < source.nodes().size(); ++i) {
    const auto& parent = source.nodes()[i].parent_entry_id;
    if (!parent || !source.index_of(*parent)) roots.push_back(i);
  }
  return roots;
}

std::vector<std::size_t> child_nodes(const ExportSource& source, std::size_t node) {
  std::vector<std::size_t> children;
  for (const MessageId child : source.nodes()[node].children) {
    if (const auto index = source.index_of(child)) children.push_back(*index);
  }
  return children;
}

/// Pushes the alternatives so that what is to come first is on top.
void push(std::vector<Waiting>& stack, const ExportSource& source,
          const std::vector<std::size_t>& nodes, std::optional<std::size_t> parent,
          BranchOrder order) {
  std::vector<Waiting> waiting;
  for (std::size_t i = 0; i < nodes.size(); ++i) waiting.push_back({nodes[i], parent, i});
  const bool first = order == BranchOrder::followed_first;
  std::stable_partition(waiting.begin(), waiting.end(),
                        [&](const Waiting& one) { return source.on_branch()[one.node] == first; });
  stack.insert(stack.end(), waiting.rbegin(), waiting.rend());
}

}  // namespace

std::vector<Segment> segments_of(const ExportSource& source, BranchOrder order) {
  std::vector<Segment> segments;
  std::vector<Waiting> stack;
  push(stack, source, root_nodes(source), std::nullopt, order);
  while (!stack.empty()) {
    const Waiting begin = stack.back();
    stack.pop_back();
    const std::size_t index = segments.size();
    Segment segment{.nodes = {begin.node},
                    .parent = begin.parent,
                    .children = {},
                    .position = begin.position,
                    .on_branch = source.on_branch()[begin.node]};
    if (begin.parent) segment.depth = segments[*begin.parent].depth + 1;
    std::vector<std::size_t> children = child_nodes(source, begin.node);
    while (children.size() == 1) {
      segment.nodes.push_back(children.front());
      children = child_nodes(source, segment.nodes.back());
    }
    segments.push_back(std::move(segment));
    if (begin.parent) segments[*begin.parent].children.push_back(index);
    push(stack, source, children, index, order);
  }
  for (Segment& segment : segments) {
    std::sort(segment.children.begin(), segment.children.end(), [&](std::size_t a, std::size_t b) {
      return segments[a].position < segments[b].position;
    });
  }
  return segments;
}

std::vector<std::size_t> roots_of(const std::vector<Segment>& segments) {
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (!segments[i].parent) roots.push_back(i);
  }
  std::sort(roots.begin(), roots.end(), [&](std::size_t a, std::size_t b) {
    return segments[a].position < segments[b].position;
  });
  return roots;
}

}  // namespace threadstore::exchange
