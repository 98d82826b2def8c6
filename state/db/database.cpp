#include "state/db/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "base/file_names.h"
#include "base/files.h"
#include "state/db/group_commit.h"
#include "state/db/journal.h"
#include "state/db/reader_pool.h"
#include "state/db/sqlite_error.h"
#include "state/db/store_file.h"
#include "state/db/writer.h"

namespace threadstore::db {

class Database::Impl {
 public:
  Impl(const std::filesystem::path& path, const Options& wanted)
      : options(with_notice(wanted)),
        file(path, options),
        writer(file, options),
        group(writer, options.deadline),
        readers(file.target()) {}

  static Options with_notice(Options options) {
    if (!options.notice) options.notice = [](const std::string&) {};
    return options;
  }

  const Options options;
  const StoreFile file;
  Writer writer;
  GroupCommit group;
  ReaderPool readers;
  std::mutex watcher_mutex;
  std::unique_ptr<Connection> watcher;  ///< asks for data_version: it never commits itself
};

namespace {

/// The databases that are open in this process, by real path and mode: handles on the same file
/// share their connections.
struct Registry {
  using Key = std::pair<std::string, Mode>;
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Database>> open;

  static Registry& instance() {
    static auto* registry = new Registry;  // outlives every static store
    return *registry;
  }
};

}  // namespace

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Database::~Database() = default;

std::shared_ptr<Database> Database::open(const std::filesystem::path& file,
                                         const Options& options) {
  if (options.mode == Mode::memory) {
    return std::shared_ptr<Database>(new Database(std::make_unique<Impl>(":memory:", options)));
  }
  Registry& registry = Registry::instance();
  const Registry::Key key(StoreFile::real_path(file).string(), options.mode);
  const std::lock_guard lock(registry.mutex);
  if (auto database = registry.open[key].lock()) {
    database->impl_->file.check_in_place();
    return database;
  }
  std::shared_ptr<Database> database(new Database(std::make_unique<Impl>(file, options)));
  const Impl& impl = *database->impl_;
  // The first read tells whether this is a database at all, and one that the caller takes.
  database->read([&](Session& session) {
    session.value<std::int64_t>("PRAGMA schema_version");
    if (options.inspect) options.inspect(session);
  });
  if (options.mode == Mode::read_write) settle_journal(impl.file, options);
  registry.open[key] = database;
  return database;
}

void Database::run_read(const std::function<void(Session&)>& body) {
  Writer& writer = impl_->writer;
  if (writer.in_transaction()) {
    writer.read_inside(body);
    return;
  }
  if (impl_->options.mode == Mode::memory) {  // one private connection does everything
    writer.write(body);
    return;
  }
  impl_->file.check_in_place();
  auto reader = impl_->readers.borrow(base::Deadline::after(impl_->options.deadline));
  (*reader).run("BEGIN", "read");
  try {
    Session session(*reader);
    body(session);
    (*reader).run("COMMIT", "read");
  } catch (...) {
    if ((*reader).try_run("ROLLBACK") != SQLITE_OK) reader.discard();
    throw;
  }
}

void Database::refuse_when_read_only() const {
  if (impl_->options.mode != Mode::read_only) return;
  throw Error(IoReason::read_only,
              "cannot write to " + file().string() + ": the store was opened for reading only");
}

void Database::run_write(const std::function<void(Session&)>& body) {
  refuse_when_read_only();
  impl_->writer.write(body);
}

void Database::run_shared(std::size_t bytes, const std::function<void(Session&)>& body) {
  refuse_when_read_only();
  impl_->group.write(body, bytes);
}

bool Database::in_transaction() const { return impl_->writer.in_transaction(); }

void Database::after_commit(std::function<void()> action) {
  impl_->writer.after_commit(std::move(action));
}

std::int64_t Database::change_counter() {
  if (impl_->options.mode == Mode::memory) {
    std::int64_t changes = 0;
    impl_->writer.write([&](Session& session) {
      changes = sqlite3_total_changes64(session.connection().handle());
    });
    return changes;
  }
  impl_->file.check_in_place();
  const std::lock_guard lock(impl_->watcher_mutex);
  if (!impl_->watcher) {
    impl_->watcher = std::make_unique<Connection>(impl_->file.target(), Role::reader);
  }
  impl_->watcher->set_deadline(base::Deadline::after(impl_->options.deadline));
  return Session(*impl_->watcher).value<std::int64_t>("PRAGMA data_version").value_or(0);
}

void Database::copy_to(const std::filesystem::path& target) {
  std::filesystem::path temporary = target;
  temporary += "." + std::to_string(::getpid()) + ".tmp";  // several processes may copy at once
  base::remove_name(temporary);
  auto copy = base::File::create(temporary, O_RDWR);  // VACUUM INTO fills it and keeps its mode
  if (!copy) base::throw_io("create", temporary, EEXIST);
  auto reader = impl_->readers.borrow(base::Deadline::after(impl_->options.deadline));
  try {
    Session(*reader).run("VACUUM INTO ?", {temporary.string()});
    copy->sync();
    base::rename_file(temporary, target);
    base::sync_directory(target.parent_path());
  } catch (...) {
    base::remove_name(temporary);
    throw;
  }
}

bool Database::scrub_wal() {
  return impl_->options.mode != Mode::read_write || impl_->writer.scrub_wal();
}

const std::filesystem::path& Database::file() const noexcept { return impl_->file.path(); }
Mode Database::mode() const noexcept { return impl_->options.mode; }
bool Database::created() const noexcept { return impl_->file.created(); }
std::chrono::milliseconds Database::deadline() const noexcept { return impl_->options.deadline; }

}  // namespace threadstore::db
