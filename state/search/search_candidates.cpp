#include "state/search/search_index.h"

namespace threadstore::state {
namespace {

constexpr std::int64_t most_ranked = 3000;

}  // namespace

bool SearchIndex::can_rank(const std::string& expression) const {
  return database_->read([&](db::Session& session) {
    const auto matches = session.value<std::int64_t>(
        "SELECT count(*) FROM (SELECT 1 FROM search_texts WHERE search_texts MATCH ?1 LIMIT ?2)",
        {expression, most_ranked + 1});
    return matches.value_or(0) <= most_ranked;
  });
}

std::vector<Candidate> SearchIndex::candidates(const std::string& expression,
                                               const SearchPosition& behind,
                                               std::size_t count) const {
  constexpr std::string_view newest_first = R"sql(
    SELECT rowid, 0.0 FROM search_texts
    WHERE search_texts MATCH ?1 AND rowid < ?2
    ORDER BY rowid DESC LIMIT ?3)sql";
  constexpr std::string_view best_first = R"sql(
    SELECT id, score
    FROM (SELECT rowid AS id, bm25(search_texts) AS score
          FROM search_texts WHERE search_texts MATCH ?1)
    WHERE score > ?4 OR (score = ?4 AND id < ?2)
    ORDER BY score, id DESC LIMIT ?3)sql";
  const auto read = [](const db::Row& row) {
    return Candidate{.id = row.get<MessageId>(0), .score = row.real(1)};
  };
  return database_->read([&](db::Session& session) {
    if (behind.by_score) {
      return session.all(best_first, {expression, behind.last.id, count, behind.last.score}, read);
    }
    return session.all(newest_first, {expression, behind.last.id, count}, read);
  });
}

}  // namespace threadstore::state
