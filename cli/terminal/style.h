#pragma once

#include <string>
#include <string_view>

namespace threadstore::cli {

/// `--color`.
enum class ColorMode { automatic, always, never };

/// What a piece of text means; the colour follows from it.
enum class Tone { plain, strong, faint, user, assistant, system, tool, mark, good, warning, bad };

/// Colours text, or leaves it alone.
class Style {
 public:
  /// No colour.
  Style() = default;
  /// For a stream: `automatic` colours a terminal, unless NO_COLOR is set (to anything but nothing)
  /// or TERM is `dumb`; the explicit modes win over both.
  static Style for_descriptor(ColorMode mode, int descriptor);

  bool colored() const noexcept { return colored_; }
  std::string paint(Tone tone, std::string_view text) const;

 private:
  explicit Style(bool colored) : colored_(colored) {}
  bool colored_ = false;
};

/// The tone of a message's role.
Tone tone_of_role(std::string_view role);

}  // namespace threadstore::cli
