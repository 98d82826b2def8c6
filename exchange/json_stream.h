#pragma once

#include <filesystem>
#include <string>

#include "exchange/byte_source.h"

namespace threadstore::exchange {

class ImportJob;

/// Reads one large JSON document value by value, so that an array of many elements is never in
/// memory as a whole. Every function skips white space first, and throws `damaged` with the offset
/// where the text is not JSON or a value is larger than 64 MiB.
class JsonStream {
 public:
  JsonStream(const std::filesystem::path& file, ImportJob& job);

  /// The next character, not taken; NUL at the end.
  char peek();
  /// Takes the character if it is the next one.
  bool take(char expected);
  void require(char expected);
  /// The text of the value that begins here, checked. Valid until the next call.
  const std::string& value();

 private:
  bool fill();
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path file_;
  ImportJob& job_;
  ByteSource source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::int64_t dropped_ = 0;  ///< bytes before the buffer
  std::int64_t told_ = 0;
  std::string value_;
};

}  // namespace threadstore::exchange
