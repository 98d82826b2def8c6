#pragma once

#include "cli/output/json.h"
#include "threadstore/messages.h"

namespace threadstore::cli {

/// MESSAGE of docs/cli.md. The item stands there as it was stored. A message whose bytes are not
/// those that were stored carries "damaged": "item" (given as a string) or "checksum".
Json message_json(const Message& message);

/// What append and branch answer.
Json appended_json(const Appended& appended);

/// A node of `tree`.
Json node_json(const TreeNode& node);

}  // namespace threadstore::cli
