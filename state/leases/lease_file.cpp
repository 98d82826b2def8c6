#include "state/leases/lease_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "threadstore/error.h"

namespace threadstore::state {
namespace {

struct flock one_byte(std::int64_t slot) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = slot;
  lock.l_len = 1;
  return lock;
}

}  // namespace

LeaseFile::LeaseFile(std::filesystem::path file) : path_(std::move(file)) {}

LeaseFile::LeaseFile(std::filesystem::path file, base::File memory)
    : path_(std::move(file)), memory_(std::move(memory)) {}

std::shared_ptr<LeaseFile> LeaseFile::anonymous() {
  const auto link = [](int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); };
  const int descriptor = ::memfd_create("threadstore-leases", MFD_CLOEXEC);
  if (descriptor < 0) base::throw_io("make", "an anonymous lease file", errno);
  auto memory = base::File::open(link(descriptor), O_RDWR);
  ::close(descriptor);
  if (!memory) base::throw_io("open", link(descriptor), ENOENT);
  const std::string path = link(memory->descriptor());
  return std::shared_ptr<LeaseFile>(new LeaseFile(path, *std::move(memory)));
}

std::unique_ptr<LeaseLock> LeaseFile::try_lock(std::int64_t slot) const {
  auto file = base::File::open_or_create(path_, O_RDWR | (memory_ ? 0 : O_NOFOLLOW));
  struct flock lock = one_byte(slot);
  if (::fcntl(file.descriptor(), F_OFD_SETLK, &lock) == 0) {
    return std::make_unique<LeaseLock>(std::move(file));
  }
  if (errno == EAGAIN || errno == EACCES) return nullptr;
  base::throw_io("lock a lease in", path_, errno);
}

bool LeaseFile::is_held(std::int64_t slot) const try {
  const auto file = base::File::open(path_, O_RDONLY | (memory_ ? 0 : O_NOFOLLOW));
  if (!file) return false;
  struct flock lock = one_byte(slot);
  if (::fcntl(file->descriptor(), F_OFD_GETLK, &lock) != 0) return true;
  return lock.l_type != F_UNLCK;
} catch (const Error&) {
  return true;
}

}  // namespace threadstore::state
