#pragma once

#include <array>
#include <ostream>
#include <streambuf>

namespace threadstore::cli {

/// Whoever read our output has closed it (`| head`): nothing to report, nothing left to do.
struct ReaderGone {};

/// Buffers writes to a descriptor. A failed write throws: `ReaderGone` for a closed pipe, else
/// `io`.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor);

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  void write_all();

  int descriptor_;
  std::array<char, 16384> bytes_{};
};

/// An output stream on a descriptor that lets the buffer's exceptions through. The destructor does
/// not flush: whoever made it decides when a failure may still be reported.
class DescriptorStream : public std::ostream {
 public:
  explicit DescriptorStream(int descriptor);

 private:
  DescriptorBuffer buffer_;
};

}  // namespace threadstore::cli
