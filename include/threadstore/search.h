#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "threadstore/ids.h"
#include "threadstore/page.h"
#include "threadstore/threads.h"
#include "threadstore/time.h"

namespace threadstore {

enum class SearchOrder {
  best,    ///< what is rarest and most dense first (BM25); of more than 3,000 matches the newest
  newest,  ///< by id
};

/// What to look for; every set filter must match.
///
/// The text is words, all of which a message must have, in any case, also inside of longer words.
/// `"a phrase"` is found as it stands, white space aside; `pars*` only where a word begins so;
/// `AND`, `OR`, `NOT` (in capitals) and `( )` combine. In double quotes nothing is special.
struct SearchQuery {
  std::string text{};
  std::optional<ThreadId> thread{};  ///< its view, so with what a fork inherited
  std::optional<std::string> cwd{};  ///< of the thread that owns the message
  std::optional<std::string> role{};
  std::optional<SessionSource> source{};  ///< of the thread that owns the message
  std::optional<UnixSeconds> since{};     ///< created_at >= this
  std::optional<UnixSeconds> until{};     ///< created_at < this
  SearchOrder order = SearchOrder::best;
  std::size_t limit = 20;              ///< 1 to 1,000
  std::optional<std::string> after{};  ///< a page's `next`, with the same query
};

/// A part of a snippet's text, in bytes.
struct SnippetMark {
  std::size_t offset = 0;
  std::size_t length = 0;

  friend bool operator==(const SnippetMark&, const SnippetMark&) = default;
};

/// The first hit of a message with what stands around it, on one line.
struct Snippet {
  std::string text;
  std::vector<SnippetMark> marks;  ///< what was found, ascending, not overlapping

  friend bool operator==(const Snippet&, const Snippet&) = default;
};

struct SearchHit {
  ThreadId thread_id;  ///< the query's thread, else the owner
  std::optional<std::string> thread_name;
  MessageId message_id{};
  std::string role;
  UnixSeconds created_at = 0;
  Snippet snippet;

  friend bool operator==(const SearchHit&, const SearchHit&) = default;
};

/// Full-text search over the contents of all messages and the texts inside their items. A light
/// handle like `Threads`.
///
/// The index is `search.db` beside the store, derived and safe to delete. Writers do not touch it:
/// each search first takes in what was committed since, and every hit is compared with the store
/// before it is shown. Where the index cannot be written (read-only media, an in-memory store),
/// inside a transaction, and when every word is shorter than 3 characters, the messages themselves
/// are read, newest first.
class Search {
 public:
  /// Throws `invalid_argument` for a malformed query, saying how to write it, and `not_found` for
  /// a thread that does not exist. `progress` is told while the index catches up.
  Page<SearchHit> find(const SearchQuery& query, const Progress& progress = {}) const;

  /// Makes the index anew; nothing for a store in memory. Throws `io` when it cannot be written,
  /// and `invalid_argument` inside a transaction.
  void rebuild(const Progress& progress = {}) const;

 private:
  friend class StateStore;
  explicit Search(std::shared_ptr<state::StoreContext> context);
  std::shared_ptr<state::StoreContext> context_;
};

}  // namespace threadstore
