#include "exchange/export_source.h"

#include <algorithm>

#include "base/json.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {

/// How many messages are read at once, and how many of them must have been wanted for reading on
/// that way: branches that were written in turns are read one by one.
constexpr std::size_t kWindow = 64;
constexpr std::size_t kWorthwhile = 8;

}  // namespace

ExportSource::ExportSource(const StateStore& store, const ThreadId& thread,
                           const ExportOptions& options)
    : store_(store), options_(options), thread_(store.threads().get(thread)) {
  nodes_ = store_.messages().tree(thread);
  for (TreeNode& node : nodes_) std::string().swap(node.preview);
  leaf_ = options.leaf ? options.leaf : thread_.current_leaf_id;
  on_branch_.assign(nodes_.size(), false);
  for (std::optional<MessageId> id = leaf_; id;) {
    const auto node = index_of(*id);
    if (!node) {
      if (id != leaf_) break;  // a history that is broken: what is there is exported
      throw Error(ErrorCode::not_found, "thread " + thread.str() + " has no message " +
                                            std::to_string(to_int(*id)) + " to end a branch at");
    }
    if (on_branch_[*node]) break;
    on_branch_[*node] = true;
    id = nodes_[*node].parent_entry_id;
  }
  if (!redacts()) return;
  thread_.preview = text(thread_.preview);
  thread_.name = text(thread_.name);
  thread_.cwd = text(thread_.cwd);
  thread_.path = text(thread_.path);
  thread_.rollout_path = text(thread_.rollout_path);
  thread_.git_branch = text(thread_.git_branch);
  thread_.git_origin_url = text(thread_.git_origin_url);
}

std::optional<std::size_t> ExportSource::index_of(MessageId id) const {
  const auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), id,
      [](const TreeNode& node, MessageId wanted) { return to_int(node.id) < to_int(wanted); });
  if (found == nodes_.end() || found->id != id) return std::nullopt;
  return static_cast<std::size_t>(found - nodes_.begin());
}

const Message& ExportSource::message(std::size_t node) {
  current_ = read(node);
  ++written_;
  clean(current_);
  if (options_.progress) {
    options_.progress(written_, static_cast<std::int64_t>(nodes_.size()));
  }
  return current_;
}

const Message& ExportSource::peek(std::size_t node) {
  const std::int64_t damaged = damaged_;
  const Redactor before = redactor_;
  current_ = store_.messages().get(thread_.id, nodes_[node].id);
  clean(current_);
  redactor_ = before;
  damaged_ = damaged;
  return current_;
}

Message ExportSource::read(std::size_t node) {
  const MessageId wanted = nodes_[node].id;
  const auto in_window = [&] {
    return std::find_if(window_.begin(), window_.end(),
                        [&](const Message& message) { return message.id == wanted; });
  };
  if (const auto found = in_window(); found != window_.end()) {
    ++window_hits_;
    return std::move(*found);
  }
  const bool worthwhile = window_.empty() || window_hits_ >= kWorthwhile;
  window_hits_ = worthwhile ? 0 : window_hits_ + 1;
  if (worthwhile) {
    window_ = store_.messages().since(thread_.id, MessageId{to_int(wanted) - 1}, kWindow);
    if (const auto found = in_window(); found != window_.end()) return std::move(*found);
  }
  return store_.messages().get(thread_.id, wanted);
}

void ExportSource::clean(Message& message) {
  if (message.item && !message.item_damaged && base::find_json_fault(*message.item)) {
    message.item_damaged = true;
  }
  if (message.item_damaged || message.checksum_mismatch) ++damaged_;
  if (!redacts()) return;
  message.content = redactor_.text(message.content);
  if (message.item) {
    message.item =
        message.item_damaged ? redactor_.text(*message.item) : redactor_.json(*message.item);
  }
}

std::string ExportSource::text(const std::string& given) {
  return redacts() ? redactor_.text(given) : given;
}

std::optional<std::string> ExportSource::text(const std::optional<std::string>& given) {
  return given ? std::optional(text(*given)) : std::nullopt;
}

std::string ExportSource::json(const std::string& given) {
  if (!redacts()) return given;
  return base::find_json_fault(given) ? redactor_.text(given) : redactor_.json(given);
}

std::optional<std::string> ExportSource::json(const std::optional<std::string>& given) {
  return given ? std::optional(json(*given)) : std::nullopt;
}

}  // namespace threadstore::exchange
