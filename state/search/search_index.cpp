#include "state/search/search_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <tuple>

#include "base/files.h"
#include "base/log.h"
#include "state/search/searchable_text.h"
#include "state/threads/message_checksum.h"
#include "threadstore/error.h"

namespace threadstore::state {
namespace {

/// Of the tables and of what `SearchableMessage` makes of a message.
constexpr std::int64_t current_format = 2;

// Each commit makes a segment of the FTS5 table, and a query looks into each: few and large ones. A
// batch holds the index's write lock for about a second.
constexpr std::int64_t batch_messages = 32'000;
constexpr std::size_t batch_bytes = std::size_t{12} << 20;
/// What FTS5 collects in memory before it writes a segment: more than a batch makes.
constexpr std::int64_t pending_bytes = std::int64_t{48} << 20;

/// A message as it comes into the index.
struct Source {
  MessageId id{};
  std::string role;
  std::string content;
  std::optional<std::string> item;
};

/// A batch of messages above `above`, by id. Hidden ones too: a fork may inherit them yet.
std::vector<Source> messages_above(db::Session& store, MessageId above) {
  constexpr std::string_view sql = R"sql(
    SELECT id, role, content, item_json FROM messages WHERE id > ? ORDER BY id LIMIT ?)sql";
  std::vector<Source> messages;
  std::size_t bytes = 0;
  store.each(sql, {above, batch_messages}, [&](const db::Row& row) {
    messages.push_back({.id = row.get<MessageId>(0),
                        .role = row.text(1),
                        .content = row.text(2),
                        .item = row.get<std::optional<std::string>>(3)});
    bytes +=
        messages.back().content.size() + (messages.back().item ? messages.back().item->size() : 0);
    return bytes < batch_bytes;
  });
  return messages;
}

/// The highest id that was ever given out: it does not shrink when messages are deleted.
MessageId newest_ever(db::Session& store) {
  return store.value<MessageId>("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
      .value_or(MessageId{});
}

bool is_unmerged(db::Session& session) {
  return session.exists("SELECT 1 FROM search_position WHERE unmerged = 1");
}

/// Recognises the store's file under any of its names.
std::string identity_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) base::throw_io("look at", file, errno);
  return std::to_string(status.st_ino);
}

void remove_files(const std::filesystem::path& file) {
  for (const char* suffix : {"-wal", "-shm", ""}) {
    std::error_code failure;
    std::filesystem::remove(file.string() + suffix, failure);
    if (failure) base::throw_io("remove", file.string() + suffix, failure.value());
  }
}

}  // namespace

std::filesystem::path SearchIndex::file_of(const StoreContext& context) {
  return context.file.parent_path() / "search.db";
}

std::vector<std::filesystem::path> SearchIndex::files_of(const StoreContext& context) {
  const std::string file = file_of(context).string();
  return {file, file + "-wal", file + "-shm", file + ".gate"};
}

SearchIndex::SearchIndex(StoreContext& context, db::Mode mode)
    : context_(context),
      store_(identity_of(context.file)),
      database_(
          db::Database::open(file_of(context), {.mode = mode, .deadline = context.deadline})) {
  if (mode == db::Mode::read_only) return;
  const auto belongs = [this](db::Session& session) { return belongs_to_store(session); };
  if (!database_->read(belongs)) {
    database_->write([&](db::Session& session) {
      if (!belongs_to_store(session)) begin(session);
    });
  }
}

bool SearchIndex::belongs_to_store(db::Session& session) const {
  const auto has_table = [&](std::string_view name) {
    return session.exists("SELECT 1 FROM sqlite_master WHERE name = ?", {name});
  };
  if (!has_table("search_position")) {
    if (!session.exists("SELECT 1 FROM sqlite_master")) return false;
    throw Error(ErrorCode::invalid_argument,
                "cannot search with " + database_->file().string() +
                    ": it is a database of another program; move it away");
  }
  if (session.value<std::int64_t>("PRAGMA user_version") != current_format) return false;
  const auto position =
      session.one("SELECT store, up_to, last_id, last_checksum FROM search_position", {},
                  [](const db::Row& row) {
                    return std::tuple(row.text(0), row.get<MessageId>(1), row.get<MessageId>(2),
                                      row.integer(3));
                  });
  if (!position || std::get<0>(*position) != store_) return false;
  // A store that was put back to an older state gives the same ids to other messages.
  return context_.read([&](db::Session& store) {
    if (newest_ever(store) < std::get<1>(*position)) return false;
    const auto checksum = store.one(
        "SELECT role, content, item_json FROM messages WHERE id = ?", {std::get<2>(*position)},
        [](const db::Row& row) {
          return message_checksum(row.text(0), row.text(1), row.get<std::optional<std::string>>(2));
        });
    return !checksum || *checksum == std::get<3>(*position);
  });
}

void SearchIndex::begin(db::Session& session) const {
  // `unmerged`: the segments still hold trigrams of what was deleted. `segments`: about how many.
  session.script(R"sql(
    DROP TABLE IF EXISTS search_texts;
    DROP TABLE IF EXISTS search_position;
    CREATE VIRTUAL TABLE search_texts USING fts5(document, tokenize = 'trigram');
    CREATE TABLE search_position (
      store TEXT NOT NULL,
      up_to INTEGER NOT NULL DEFAULT 0,
      last_id INTEGER NOT NULL DEFAULT 0,
      last_checksum INTEGER NOT NULL DEFAULT 0,
      unmerged INTEGER NOT NULL DEFAULT 0,
      segments INTEGER NOT NULL DEFAULT 0
    );
    PRAGMA user_version = 2;
  )sql");
  static_assert(current_format == 2);
  // FTS5 is not to merge by itself, in the middle of a batch: `merge_many_segments` does, in short
  // transactions, 16 of one size at once.
  for (const auto& [option, value] :
       {std::pair("hashsize", pending_bytes), std::pair("automerge", std::int64_t{0}),
        std::pair("crisismerge", std::int64_t{1000}), std::pair("usermerge", std::int64_t{16})}) {
    session.run("INSERT INTO search_texts(search_texts, rank) VALUES (?, ?)", {option, value});
  }
  session.run("INSERT INTO search_position(store) VALUES (?)", {store_});
}

void SearchIndex::make_empty() {
  database_->write([&](db::Session& session) { begin(session); });
}

void SearchIndex::catch_up(const Progress& progress) {
  MessageId newest{};
  const auto newest_now = [&] { return context_.read(newest_ever); };
  const auto position = [](db::Session& session) {
    return session.value<MessageId>("SELECT up_to FROM search_position").value_or(MessageId{});
  };
  MessageId up_to = database_->read(position);
  const std::int64_t start = to_int(up_to);
  for (newest = newest_now(); up_to < newest;) {
    up_to = database_->write([&](db::Session& session) { return take_batch(session, newest); });
    if (progress) progress(to_int(up_to) - start, to_int(newest) - start);
  }
  merge_many_segments();
}

MessageId SearchIndex::take_batch(db::Session& session, MessageId& newest) const {
  MessageId up_to =
      session.value<MessageId>("SELECT up_to FROM search_position").value_or(MessageId{});
  const auto messages = context_.read([&](db::Session& store) {
    newest = newest_ever(store);
    return messages_above(store, up_to);
  });
  for (const Source& message : messages) {
    const SearchableMessage text(message.content, message.item);
    session.run("INSERT INTO search_texts(rowid, document) VALUES (?, ?)",
                {message.id, text.document()});
  }
  if (messages.empty()) {
    up_to = newest;
    session.run("UPDATE search_position SET up_to = ?", {up_to});
  } else {
    const Source& last = messages.back();
    up_to = last.id;
    session.run(R"sql(
      UPDATE search_position
      SET up_to = ?1, last_id = ?1, last_checksum = ?2, segments = segments + 1)sql",
                {up_to, message_checksum(last.role, last.content, last.item)});
  }
  return up_to;
}

void SearchIndex::forget_deleted() {
  const bool unmerged = database_->write([&](db::Session& session) {
    for (const MessageId id : deleted_since(session)) {
      session.run("DELETE FROM search_texts WHERE rowid = ?", {id});
      session.run("UPDATE search_position SET unmerged = 1");
    }
    return is_unmerged(session);
  });
  if (unmerged) merge_segments();
}

std::vector<MessageId> SearchIndex::deleted_since(db::Session& session) const {
  constexpr std::size_t at_once = 1000;
  const auto read_id = [](const db::Row& row) { return row.get<MessageId>(0); };
  const auto indexed = session.all("SELECT rowid FROM search_texts ORDER BY rowid", {}, read_id);
  std::vector<MessageId> deleted;
  for (std::size_t from = 0; from < indexed.size(); from += at_once) {
    const auto first = indexed.begin() + static_cast<std::ptrdiff_t>(from);
    const auto count = std::min(at_once, indexed.size() - from);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    const auto kept = context_.read([&](db::Session& store) {
      return store.all("SELECT id FROM messages WHERE id >= ? AND id <= ? ORDER BY id",
                       {*first, *(last - 1)}, read_id);
    });
    std::set_difference(first, last, kept.begin(), kept.end(), std::back_inserter(deleted));
  }
  return deleted;
}

SearchIndex::Condition SearchIndex::condition() const {
  Condition condition;
  database_->read([&](db::Session& session) {
    condition.usable = belongs_to_store(session);
    const auto said = session.value<std::string>("PRAGMA quick_check(1)").value_or("");
    if (said != "ok") condition.fault = said;
    if (!condition.usable || !condition.fault.empty()) return;
    const auto up_to = session.value<std::int64_t>("SELECT up_to FROM search_position");
    condition.waiting = to_int(context_.read(newest_ever)) - up_to.value_or(0);
    condition.deleted = static_cast<std::int64_t>(deleted_since(session).size());
    if (condition.deleted == 0) condition.deleted = is_unmerged(session) ? 1 : 0;
  });
  return condition;
}

void with_search_index(StoreContext& context, const std::function<void(SearchIndex&)>& use) {
  const auto open_and_use = [&] {
    SearchIndex index(context);
    use(index);
  };
  const std::filesystem::path file = SearchIndex::file_of(context);
  try {
    open_and_use();
  } catch (const Error& error) {
    const bool replaced = error.io_reason() == IoReason::store_replaced;
    if (!is_about_search_index(context, error)) throw;
    if (error.code() != ErrorCode::damaged && !replaced) throw;
    base::log_warn("the search index is made anew: " + std::string(error.what()));
    if (!replaced) remove_files(file);
    open_and_use();
  }
}

bool is_about_search_index(const StoreContext& context, const Error& error) {
  return std::string_view(error.what()).find(SearchIndex::file_of(context).string()) !=
         std::string_view::npos;
}

}  // namespace threadstore::state
