#pragma once

#include <string>
#include <string_view>

namespace threadstore::exchange {

/// The text as HTML shows it, in an element or a quoted attribute: markup is text, and so are
/// control characters.
std::string html_text(std::string_view text);

/// Markdown as HTML. Links only to http, https and mail, images as links, markup in the text as
/// text: nothing is ever loaded, nothing runs. `line_breaks`: each line end is one.
std::string html_of_markdown(std::string_view text, bool line_breaks);

/// `sha256-…` of a text, as a content security policy names it.
std::string policy_hash(std::string_view text);

}  // namespace threadstore::exchange
