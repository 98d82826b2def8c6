#include "state/private_copy.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "state/schema/schema.h"

namespace threadstore::state {
namespace {

/// A directory of mode 0700, removed with what is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "threadstore-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) base::throw_io("make a directory like", name, errno);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

void read_from_private_copy_when_old(StoreContext& context) {
  const bool current = context.read([&](db::Session& session) {
    return db::is_current(session, state_schema(), context.file.string());
  });
  if (current) return;
  auto directory = std::make_shared<TemporaryDirectory>();
  const std::filesystem::path copy = directory->path() / "state.db";
  context.database->copy_to(copy);
  db::Options options{.mode = db::Mode::read_write, .deadline = context.deadline};
  // The copy is ours alone: the backup that a migration makes of a foreign store goes with it.
  db::migrate(*db::Database::open(copy, options), state_schema(), {});
  options.mode = db::Mode::read_only;
  context.database = db::Database::open(copy, options);
  context.private_copy = std::move(directory);
}

}  // namespace threadstore::state
