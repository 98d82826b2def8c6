#include "state/db/database_users.h"

#include "base/lock_holders.h"

namespace threadstore::db {
namespace {

// The bytes that SQLite locks (its file format, "The WAL-Index File Format").
constexpr base::ByteRange kWriter{.first = 120, .last = 120};
constexpr base::ByteRange kReaders{.first = 123, .last = 127};

std::string holders(const std::filesystem::path& database, base::ByteRange bytes) {
  return base::describe_lock_holders(database.string() + "-shm", bytes);
}

}  // namespace

std::string who_writes(const std::filesystem::path& database) { return holders(database, kWriter); }

std::string who_reads(const std::filesystem::path& database) { return holders(database, kReaders); }

}  // namespace threadstore::db
