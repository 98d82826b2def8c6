#include "threadstore/search.h"

#include <algorithm>
#include <limits>

#include "state/search/search_index.h"
#include "state/search/search_query.h"
#include "state/search/snippet.h"
#include "state/store_context.h"
#include "state/threads/keyset_cursor.h"
#include "state/threads/snapshot_budget.h"
#include "state/threads/view.h"
#include "threadstore/error.h"

namespace threadstore {

using state::Candidate;
using state::SearchIndex;
using state::SearchPosition;
using state::StoreContext;

namespace {

constexpr std::size_t candidates_at_once = 1000;

/// Messages that are not deleted and meet the query's filters, but for its thread and text. The
/// left join keeps SQLite on the ids of the messages.
const std::string matching_rows = R"sql(
  SELECT m.id, m.thread_id, m.role, m.content, m.item_json, m.created_at, t.title
  FROM messages AS m LEFT JOIN threads AS t ON t.id = m.thread_id
  WHERE NOT EXISTS (SELECT 1 FROM thread_removals AS r
                    WHERE r.thread_id = m.thread_id AND m.id <= r.up_to_id)
    AND (?2 IS NULL OR m.role = ?2)
    AND m.created_at >= ?3 AND m.created_at < ?4
    AND (?5 IS NULL OR t.cwd = ?5)
    AND (?6 IS NULL OR t.source = ?6 OR (?6 = 'unknown' AND t.source NOT IN
           ('interactive', 'resume', 'fork', 'api'))) )sql";

/// One search: which messages it shows, whoever proposes them. Every proposal is compared with the
/// store at the moment of reading.
class Finder {
 public:
  Finder(StoreContext& context, const SearchQuery& query)
      : context_(context), query_(query), parsed_(state::ParsedQuery::parse(query.text)) {
    state::check_limit(query.limit);
    if (query.after) after_ = SearchPosition::parse(*query.after);
    if (query.thread) extent_ = state::extent_of(context, *query.thread);
    if (extent_) thread_name_ = name_of(*query.thread);
  }

  std::optional<std::string> index_expression() const { return parsed_.index_expression(); }

  Page<SearchHit> by_index(SearchIndex& index, const std::string& expression) {
    // A page goes on in the order of the one before, though more match by now.
    const bool best = query_.order == SearchOrder::best;
    begin(best && (after_ ? after_->by_score : index.can_rank(expression)));
    static const std::string sql = matching_rows + "AND m.id = ?1";
    while (!full()) {
      const auto proposed = index.candidates(expression, position_, candidates_at_once);
      if (proposed.empty()) break;
      for (auto next = proposed.begin(); next != proposed.end() && !full();) {
        context_.read([&](db::Session& session) {
          state::SnapshotBudget budget;
          for (bool more = true; more && next != proposed.end() && !full(); ++next) {
            position_.last = *next;
            more = budget.spend();
            each_row(session, sql, next->id,
                     [&](const db::Row& row) { more &= judge(row, budget); });
          }
        });
      }
    }
    return page();
  }

  /// Without the index: newest first, whatever the order that was asked for.
  Page<SearchHit> by_reading(const Progress& progress) {
    begin(false);
    static const std::string sql = matching_rows + "AND m.id < ?1 ORDER BY m.id DESC";
    std::int64_t newest = 0;
    for (bool more = true; more && !full();) {
      more = false;
      context_.read([&](db::Session& session) {
        state::SnapshotBudget budget;
        each_row(session, sql, position_.last.id, [&](const db::Row& row) {
          position_.last.id = row.get<MessageId>(0);
          const bool goes_on = judge(row, budget);
          more = !goes_on;
          return goes_on && !full();
        });
      });
      newest = std::max(newest, to_int(position_.last.id));
      if (progress) progress(newest - to_int(position_.last.id), newest);
    }
    return page();
  }

 private:
  std::optional<std::string> name_of(const ThreadId& thread) const {
    return context_.read([&](db::Session& session) {
      return session
          .one("SELECT title FROM threads WHERE id = ?", {thread},
               [](const db::Row& row) { return row.get<std::optional<std::string>>(0); })
          .value_or(std::nullopt);
    });
  }

  void begin(bool by_score) {
    hits_.clear();
    position_ = after_.value_or(SearchPosition::start(by_score));
    if (position_.by_score == by_score) return;
    throw Error(ErrorCode::invalid_argument,
                "cannot read on after '" + *query_.after +
                    "': that page was in another order; search again without a cursor");
  }

  bool full() const { return hits_.size() > query_.limit; }

  template <class Visit>
  void each_row(db::Session& session, const std::string& sql, MessageId id, Visit&& visit) const {
    session.each(
        sql,
        {id, query_.role, query_.since.value_or(std::numeric_limits<UnixSeconds>::min()),
         query_.until.value_or(std::numeric_limits<UnixSeconds>::max()), query_.cwd, query_.source},
        visit);
  }

  bool in_view(MessageId id, std::string_view owner) const {
    if (!extent_) return true;
    if (owner == extent_->view.thread.str()) return true;
    return extent_->path != nullptr && extent_->path->contains(id);
  }

  /// Keeps the row when it is a hit. False when it was the last of this snapshot.
  bool judge(const db::Row& row, state::SnapshotBudget& budget) {
    const auto id = row.get<MessageId>(0);
    if (!in_view(id, row.view(1))) return budget.spend();
    const auto item = row.get<std::optional<std::string>>(4);
    const state::SearchableMessage message(row.view(3), item);
    const std::string document = message.document();
    if (parsed_.matches(document)) {
      SearchHit hit{.thread_id = extent_ ? extent_->view.thread : row.get<ThreadId>(1),
                    .thread_name = extent_ ? thread_name_ : row.get<std::optional<std::string>>(6),
                    .message_id = id,
                    .role = row.text(2),
                    .created_at = row.integer(5),
                    .snippet = state::make_snippet(message, parsed_.terms_to_mark())};
      hits_.push_back({position_.last, std::move(hit)});
    }
    return budget.spend(document.size());
  }

  Page<SearchHit> page() {
    Page<SearchHit> page;
    if (full()) {
      hits_.pop_back();
      page.next = SearchPosition{.by_score = position_.by_score, .last = hits_.back().first}.str();
    }
    for (auto& [candidate, hit] : hits_) page.items.push_back(std::move(hit));
    return page;
  }

  StoreContext& context_;
  const SearchQuery& query_;
  const state::ParsedQuery parsed_;
  std::optional<SearchPosition> after_;
  std::optional<state::ViewExtent> extent_;
  std::optional<std::string> thread_name_;
  SearchPosition position_;
  std::vector<std::pair<Candidate, SearchHit>> hits_;  ///< one more than the page: it goes on
};

/// Whether the store has a file of its own, beside which an index can lie.
bool can_have_index(const StoreContext& context) {
  return context.index != nullptr && context.private_copy == nullptr;
}

}  // namespace

Search::Search(std::shared_ptr<StoreContext> context) : context_(std::move(context)) {}

Page<SearchHit> Search::find(const SearchQuery& query, const Progress& progress) const {
  Finder finder(*context_, query);
  const auto expression = finder.index_expression();
  // What is not committed must not come into the index: after a rollback its ids are given again.
  const bool uncommitted = context_->database->in_transaction();
  if (!expression || uncommitted || !can_have_index(*context_)) {
    return finder.by_reading(progress);
  }
  try {
    Page<SearchHit> page;
    state::with_search_index(*context_, [&](SearchIndex& index) {
      index.catch_up(progress);
      page = finder.by_index(index, *expression);
    });
    return page;
  } catch (const Error& error) {
    if (!state::is_about_search_index(*context_, error)) throw;
    context_->notice(
        "every message is read, newest first, because the search index cannot be used: " +
        std::string(error.what()));
  }
  return finder.by_reading(progress);
}

void Search::rebuild(const Progress& progress) const {
  if (context_->database->in_transaction()) {
    throw Error(ErrorCode::invalid_argument,
                "cannot make the search index anew inside a transaction; do so after it");
  }
  if (!can_have_index(*context_)) return;
  state::with_search_index(*context_, [&](SearchIndex& index) {
    index.make_empty();
    index.catch_up(progress);
  });
}

}  // namespace threadstore
