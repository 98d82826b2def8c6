#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace threadstore::state {

/// The text on one line: runs of white space and control characters become one space, none at the
/// ends.
std::string on_one_line(std::string_view text);

/// The texts inside an item, separated by line breaks: every string value but words of the protocol
/// (types, roles) and data (signatures, what is encrypted or encoded). Empty for broken JSON.
std::string texts_of_item(std::string_view item);

/// A text as it is shown and as it is compared. Both have the same number of code points.
struct SearchableText {
  explicit SearchableText(std::string_view text);

  std::string shown;   ///< on one line
  std::string folded;  ///< the same without case
};

/// What a message is searched by.
struct SearchableMessage {
  SearchableMessage(std::string_view text, const std::optional<std::string>& item_json);

  SearchableText content;
  SearchableText item;

  /// What goes into the index. The line break keeps phrases from reaching over both parts.
  std::string document() const { return content.folded + '\n' + item.folded; }
};

}  // namespace threadstore::state
