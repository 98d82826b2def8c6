#include "cli/resolve/text_argument.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "threadstore/messages.h"

namespace threadstore::cli {

std::string read_all(int descriptor, const std::string& what) {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t got = ::read(descriptor, part.data(), part.size());
    if (got == 0) return text;
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      throw Error(IoReason::other, "cannot read " + what + ": " + std::strerror(errno));
    }
  }
}

std::string valid_text(Invocation& call, const std::string& bytes, const std::string& what) {
  std::size_t replaced = 0;
  std::string text = to_valid_utf8(bytes, &replaced);
  if (replaced > 0) {
    call.warn(what + " was not valid UTF-8: " + std::to_string(replaced) +
              (replaced == 1 ? " sequence was" : " sequences were") + " replaced by U+FFFD");
  }
  return text;
}

std::string text_argument(Invocation& call, const std::string& given, const std::string& what) {
  return valid_text(
      call, given == "-" ? read_all(STDIN_FILENO, what + " from standard input") : given, what);
}

std::string line_argument(Invocation& call, const std::string& given, const std::string& what) {
  std::string text = text_argument(call, given, what);
  if (given == "-" && text.ends_with('\n')) text.pop_back();
  if (given == "-" && text.ends_with('\r')) text.pop_back();
  return text;
}

std::optional<std::string> line_argument(Invocation& call, const std::optional<std::string>& given,
                                         const std::string& what) {
  if (!given) return std::nullopt;
  return line_argument(call, *given, what);
}

}  // namespace threadstore::cli
