#include "state/threads/thread_list.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "state/threads/keyset_cursor.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore {

using state::KeysetCursor;
using state::StoreContext;

namespace {

/// "NOT IN (every known word)": rows with a word that we do not know read as the fallback, so the
/// fallback's filter must find them.
template <class Enum>
std::string not_a_known_word() {
  std::string list = " NOT IN (";
  for (const auto& [value, word] : EnumNames<Enum>::table) {
    if (list.back() != '(') list += ", ";
    list += "'" + std::string(word) + "'";
  }
  return list + ")";
}

/// The one query shape of `list` and `count`: an absent filter is null. The index
/// threadstore_threads_list gives the order and the range and holds every column that is compared,
/// so that only rows that match are fetched.
const std::string matching = R"sql(
  threads.archived = ?1
  AND (threads.updated_at, threads.id) < (?2, ?3) AND threads.updated_at >= ?4
  AND (?5 IS NULL OR threads.cwd = ?5)
  AND (?6 IS NULL OR threads.source = ?6
       OR (?6 = 'unknown' AND threads.source)sql" +
                             not_a_known_word<SessionSource>() + R"sql())
  AND (?7 IS NULL OR threads.status = ?7
       OR (?7 = 'idle' AND threads.status)sql" +
                             not_a_known_word<ThreadStatus>() + R"sql())
  AND (?8 IS NULL OR threads.model_provider = ?8)
  AND (?9 IS NULL OR instr(lower(threads.title), ?9) > 0))sql";

std::string ascii_lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::vector<bool> archived_values(ArchivedFilter filter) {
  switch (filter) {
    case ArchivedFilter::active:
      return {false};
    case ArchivedFilter::archived:
      return {true};
    case ArchivedFilter::all:
      return {false, true};
  }
  return {};
}

/// The first position that is too early for the page: what `updated_until` or the cursor excludes.
KeysetCursor upper_bound(const ThreadFilter& filter) {
  KeysetCursor bound = KeysetCursor::parse(filter.after);
  if (filter.updated_until && *filter.updated_until <= bound.at) {
    bound = std::min(bound, KeysetCursor{.at = *filter.updated_until, .order = 0, .id = ""});
  }
  return bound;
}

bool listed_before(const Thread& a, const Thread& b) {
  return std::tie(a.updated_at, a.id) > std::tie(b.updated_at, b.id);
}

/// Runs a SELECT of the one shape for each value of `archived` that the filter asks for.
template <class Visit>
void each_match(db::Session& session, const std::string& sql, const ThreadFilter& filter,
                std::int64_t limit, Visit&& visit) {
  const KeysetCursor bound = upper_bound(filter);
  std::optional<std::string> name_part;
  if (filter.name_part) name_part = ascii_lower(*filter.name_part);
  for (const bool archived : archived_values(filter.archived)) {
    session.each(
        sql,
        {archived, bound.at, bound.id,
         filter.updated_since.value_or(std::numeric_limits<UnixSeconds>::min()), filter.cwd,
         filter.source, filter.status, filter.model_provider, name_part, limit},
        visit);
  }
}

}  // namespace

std::string state::list_sql() {
  return select_threads + " AND" + matching +
         " ORDER BY threads.updated_at DESC, threads.id DESC LIMIT ?10";
}

std::string state::count_sql() {
  return std::string("SELECT count(*) FROM threads WHERE") + thread_is_visible + " AND" + matching +
         " LIMIT ?10";
}

Page<Thread> Threads::list(const ThreadFilter& filter) const {
  state::check_limit(filter.limit);
  static const std::string sql = state::list_sql();
  std::vector<Thread> found = context_->read([&](db::Session& session) {
    std::vector<Thread> threads;
    const auto one_more = static_cast<std::int64_t>(filter.limit + 1);  // tells whether it goes on
    each_match(session, sql, filter, one_more,
               [&](const db::Row& row) { threads.push_back(state::read_thread(*context_, row)); });
    return threads;
  });
  if (filter.archived == ArchivedFilter::all) {
    std::sort(found.begin(), found.end(), listed_before);
  }
  Page<Thread> page;
  if (found.size() > filter.limit) {
    found.resize(filter.limit);
    page.next = KeysetCursor{found.back().updated_at, 0, found.back().id.str()}.str();
  }
  page.items = std::move(found);
  return page;
}

std::int64_t Threads::count(const ThreadFilter& filter) const {
  static const std::string sql = state::count_sql();
  ThreadFilter whole = filter;
  whole.after.reset();
  return context_->read([&](db::Session& session) {
    std::int64_t total = 0;
    each_match(session, sql, whole, 1, [&](const db::Row& row) { total += row.integer(0); });
    return total;
  });
}

}  // namespace threadstore
