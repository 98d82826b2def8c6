#include "tests/bench/canary.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tests/bench/row.h"

namespace threadstore::bench {

Canary::Canary(const std::filesystem::path& directory, std::size_t bytes)
    : file_(directory / "canary"),
      descriptor_(::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)),
      bytes_(bytes, 'x') {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), file_.string());
}

Canary::~Canary() {
  ::close(descriptor_);
  ::unlink(file_.c_str());
}

double Canary::sing() {
  return seconds_of([this] {
    if (::write(descriptor_, bytes_.data(), bytes_.size()) != static_cast<ssize_t>(bytes_.size()) ||
        ::fdatasync(descriptor_) != 0) {
      throw std::system_error(errno, std::generic_category(), file_.string());
    }
  });
}

}  // namespace threadstore::bench
