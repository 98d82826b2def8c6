#include "cli/terminal/tree.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

// A subtree that still has to be drawn. `before` precedes its first line, `under` its other lines.
struct Pending {
  std::size_t node;
  std::string before;
  std::string under;
};

class TreeDrawing {
 public:
  TreeDrawing(std::ostream& out, const std::vector<TreeNode>& nodes, const Look& look)
      : out_(out), nodes_(nodes), look_(look), sizes_(nodes.size(), 1), active_(nodes.size()) {
    places_.reserve(nodes.size());
    for (std::size_t at = 0; at < nodes.size(); ++at) places_.emplace(to_int(nodes[at].id), at);
    measure();
  }

  void draw() {
    for (std::size_t at = nodes_.size(); at-- > 0;) {
      if (!parent_of(at)) pending_.push_back({at, "", ""});
    }
    while (!pending_.empty()) {
      const Pending next = std::move(pending_.back());
      pending_.pop_back();
      draw_chain(next);
    }
  }

 private:
  std::optional<std::size_t> parent_of(std::size_t at) const {
    if (!nodes_[at].parent_entry_id) return std::nullopt;
    const auto found = places_.find(to_int(*nodes_[at].parent_entry_id));
    if (found == places_.end()) return std::nullopt;
    return found->second;
  }

  // Sizes of subtrees and the path to the current leaf, from the last node to the first: parents
  // come before their children.
  void measure() {
    for (std::size_t at = nodes_.size(); at-- > 0;) {
      if (nodes_[at].is_current_leaf) active_[at] = true;
      const std::optional<std::size_t> parent = parent_of(at);
      if (!parent) continue;
      sizes_[*parent] += sizes_[at];
      if (active_[at]) active_[*parent] = true;
    }
  }

  // Straight down until the chain ends or branches; what branches off is left pending, and the
  // child that goes straight on is drawn after it.
  void draw_chain(const Pending& start) {
    std::size_t at = start.node;
    draw_line(start.before, at);
    while (true) {
      const std::vector<std::size_t> children = children_of(at);
      if (children.empty()) return;
      if (children.size() > 1) {
        push_branches(children, start.under);
        return;
      }
      at = children.front();
      draw_line(start.under, at);
    }
  }

  void push_branches(const std::vector<std::size_t>& children, const std::string& under) {
    std::size_t straight = children.front();
    for (const std::size_t child : children) {
      if (std::pair<bool, std::int64_t>(active_[child], sizes_[child]) >
          std::pair<bool, std::int64_t>(active_[straight], sizes_[straight])) {
        straight = child;
      }
    }
    pending_.push_back({straight, under, under});
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      if (*child != straight) pending_.push_back({*child, under + "├─", under + "│ "});
    }
  }

  std::vector<std::size_t> children_of(std::size_t at) const {
    std::vector<std::size_t> out;
    out.reserve(nodes_[at].children.size());
    for (const MessageId child : nodes_[at].children) {
      if (const auto found = places_.find(to_int(child)); found != places_.end()) {
        out.push_back(found->second);
      }
    }
    return out;
  }

  void draw_line(const std::string& before, std::size_t at) {
    const TreeNode& node = nodes_[at];
    const Style& style = look_.style;
    const std::string id = "#" + std::to_string(to_int(node.id));
    const std::string role = escape_for_terminal(node.role);
    const std::string_view mark = node.is_current_leaf ? "  ← current" : "";
    std::string text = escape_for_terminal(node.preview);
    if (look_.width > 0) {
      const std::size_t around =
          display_width(before) + 2 + id.size() + 1 + display_width(role) + 2 + display_width(mark);
      text = cut_to_width(text, look_.width > around + 8 ? look_.width - around : 8);
    }
    out_ << style.paint(Tone::faint, before)
         << (node.is_current_leaf ? style.paint(Tone::mark, "●") : style.paint(Tone::faint, "○"))
         << ' ' << style.paint(Tone::faint, id) << ' ' << style.paint(tone_of_role(node.role), role)
         << (text.empty() ? "" : "  ") << text << style.paint(Tone::mark, mark) << '\n';
  }

  std::ostream& out_;
  const std::vector<TreeNode>& nodes_;
  const Look& look_;
  std::unordered_map<std::int64_t, std::size_t> places_;
  std::vector<std::int64_t> sizes_;  // messages in the subtree, itself included
  std::vector<bool> active_;         // on the path to the current leaf
  std::vector<Pending> pending_;     // a stack: drawn from the back
};

}  // namespace

void print_tree(std::ostream& out, const std::vector<TreeNode>& nodes, const Look& look) {
  TreeDrawing(out, nodes, look).draw();
}

}  // namespace threadstore::cli
