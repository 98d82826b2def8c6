#include "cli/output/descriptor_stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "threadstore/error.h"

namespace threadstore::cli {

DescriptorBuffer::DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type character) {
  write_all();
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  return sputc(traits_type::to_char_type(character));
}

int DescriptorBuffer::sync() {
  write_all();
  return 0;
}

void DescriptorBuffer::write_all() {
  const char* next = pbase();
  const char* const end = pptr();
  setp(bytes_.data(), bytes_.data() + bytes_.size());  // what fails is not written again
  while (next < end) {
    const ssize_t written = ::write(descriptor_, next, static_cast<std::size_t>(end - next));
    if (written >= 0) {
      next += written;
    } else if (errno == EPIPE) {
      throw ReaderGone{};
    } else if (errno != EINTR) {
      const int reason = errno;
      throw Error(reason == ENOSPC ? IoReason::disk_full : IoReason::other,
                  std::string("cannot write the output: ") + std::strerror(reason));
    }
  }
}

DescriptorStream::DescriptorStream(int descriptor) : std::ostream(nullptr), buffer_(descriptor) {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);  // rethrows what the buffer threw
}

}  // namespace threadstore::cli
