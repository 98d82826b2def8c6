#include "cli/output/message_json.h"

namespace threadstore::cli {
namespace {

Json item_json(const Message& message) {
  if (!message.item) return nullptr;
  return message.item_damaged ? Json(*message.item) : embedded(*message.item);
}

}  // namespace

Json message_json(const Message& message) {
  Json document{{"id", to_int(message.id)},
                {"thread_id", message.thread_id.str()},
                {"role", message.role},
                {"content", message.content},
                {"item", item_json(message)},
                {"created_at", message.created_at},
                {"parent_entry_id", or_null(message.parent_entry_id)}};
  if (message.item_damaged) {
    document["damaged"] = "item";
  } else if (message.checksum_mismatch) {
    document["damaged"] = "checksum";
  }
  return document;
}

Json appended_json(const Appended& appended) {
  return {{"id", to_int(appended.id)},
          {"thread_id", appended.thread_id.str()},
          {"parent_entry_id", or_null(appended.parent_entry_id)},
          {"branched", appended.branched},
          {"replayed", appended.replayed},
          {"current_leaf_id", or_null(appended.current_leaf_id)}};
}

Json node_json(const TreeNode& node) {
  Json children = Json::array();
  for (const MessageId child : node.children) children.push_back(to_int(child));
  return {{"id", to_int(node.id)},
          {"parent_entry_id", or_null(node.parent_entry_id)},
          {"role", node.role},
          {"preview", node.preview},
          {"children", std::move(children)},
          {"is_current_leaf", node.is_current_leaf}};
}

}  // namespace threadstore::cli
