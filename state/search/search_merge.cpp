#include "state/search/search_index.h"

// The segments of the FTS5 table: each commit makes one, and merging makes fewer of them, in short
// transactions.
namespace threadstore::state {
namespace {

constexpr int pages_at_once = 1000;
constexpr std::int64_t many_segments = 64;
constexpr std::int64_t merged_at_once = 16;  ///< `usermerge`

/// Merges until nothing is left to do. A negative first step makes all segments one.
void merge(db::Database& database, int first_step) {
  const auto step = [&](int pages) {
    return database.write([&](db::Session& session) {
      const auto changes = [&] { return session.value<std::int64_t>("SELECT total_changes()"); };
      const auto before = changes().value_or(0);
      session.run("INSERT INTO search_texts(search_texts, rank) VALUES ('merge', ?)", {pages});
      return changes().value_or(0) - before >= 2;  // FTS5's sign that there was work
    });
  };
  for (bool more = step(first_step); more;) more = step(pages_at_once);
}

}  // namespace

void SearchIndex::merge_many_segments() {
  const auto count = [](db::Session& session) {
    return session.value<std::int64_t>("SELECT segments FROM search_position").value_or(0);
  };
  if (database_->read(count) < many_segments) return;
  merge(*database_, pages_at_once);
  database_->write([&](db::Session& session) {
    const std::int64_t segments = count(session);
    session.run("UPDATE search_position SET segments = ?",
                {segments / merged_at_once + segments % merged_at_once});
  });
}

/// Deleting from FTS5 only adds marks: trigrams leave the file when the segments that hold them are
/// merged with the marks.
void SearchIndex::merge_segments() {
  merge(*database_, -pages_at_once);
  database_->write([](db::Session& session) {
    session.run("UPDATE search_position SET unmerged = 0, segments = 1");
  });
  database_->scrub_wal();
}

}  // namespace threadstore::state
