#include "state/search/search_index.h"

namespace threadstore::state {
namespace {

Candidate read_candidate(const db::Row& row) {
  return {.id = row.get<MessageId>(0), .score = row.real(1)};
}

}  // namespace

std::vector<Candidate> SearchIndex::candidates(const std::string& expression,
                                               SearchPosition& behind, std::size_t count) const {
  constexpr std::string_view newest_first = R"sql(
    SELECT rowid, 0.0 FROM search_texts
    WHERE search_texts MATCH ?1 AND rowid < ?2
    ORDER BY rowid DESC LIMIT ?3)sql";
  constexpr std::string_view lowest_ranked = R"sql(
    SELECT CASE WHEN count(*) = ?3 THEN min(id) END
    FROM (SELECT rowid AS id FROM search_texts
          WHERE search_texts MATCH ?1 AND rowid < ?2
          ORDER BY rowid DESC LIMIT ?3))sql";
  constexpr std::string_view best_first = R"sql(
    SELECT id, score
    FROM (SELECT rowid AS id, bm25(search_texts) AS score FROM search_texts
          WHERE search_texts MATCH ?1 AND rowid < ?5 AND rowid >= ?6)
    WHERE score > ?4 OR (score = ?4 AND id < ?2)
    ORDER BY score, id DESC LIMIT ?3)sql";
  return database_->read([&](db::Session& session) {
    if (!behind.by_score) {
      return session.all(newest_first, {expression, behind.last.id, count}, read_candidate);
    }
    for (;;) {
      const auto lowest = session
                              .value<std::optional<MessageId>>(
                                  lowest_ranked, {expression, behind.below, ranked_at_once})
                              .value_or(std::nullopt);
      auto found = session.all(best_first,
                               {expression, behind.last.id, count, behind.last.score, behind.below,
                                lowest.value_or(MessageId{0})},
                               read_candidate);
      if (!found.empty() || !lowest) return found;
      behind = SearchPosition::start(true);
      behind.below = *lowest;
    }
  });
}

}  // namespace threadstore::state
