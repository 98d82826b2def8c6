#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "state/store_context.h"
#include "threadstore/error.h"
#include "threadstore/ids.h"
#include "threadstore/threads.h"

namespace threadstore::state {

/// What the index proposes for a search: a message that probably matches.
struct Candidate {
  MessageId id{};
  double score = 0;  ///< less is better
};

/// Where a search stands: everything up to this candidate was looked at.
struct SearchPosition {
  bool by_score = false;  ///< best first; else newest first
  Candidate last{};

  /// Before everything.
  static SearchPosition start(bool by_score);
  /// The opaque text of a page's `next`, and back. Throws `invalid_argument` for any other text.
  std::string str() const;
  static SearchPosition parse(const std::string& cursor);
};

/// The file `search.db`: an FTS5 table of trigrams over `SearchableMessage::document`, and how far
/// it got.
///
/// Invariants
/// 1. The index has every message of the store up to its position, and may have more: what was
///    deleted since. It is a proposal; the store is the truth.
/// 2. Messages and position change in one transaction: killed at any moment, the index is right.
/// 3. The store is read under the index's write lock. So a message that was deleted before
///    `forget_deleted` gets the lock does not come back into the index after it.
/// 4. An index of another store, of an older state of it, or of another version is emptied.
/// Not thread-safe; any number of processes and threads may have one each.
class SearchIndex {
 public:
  static std::filesystem::path file_of(const StoreContext& context);
  /// All files that it may have.
  static std::vector<std::filesystem::path> files_of(const StoreContext& context);

  /// Opens the index, made when missing. Throws `io` where it cannot be written, `damaged`, and
  /// `invalid_argument` when the file is another program's. Read only, nothing is made or changed,
  /// and a missing file is `not_found`.
  explicit SearchIndex(StoreContext& context, db::Mode mode = db::Mode::read_write);

  /// Takes in what was committed since, in short transactions.
  void catch_up(const Progress& progress);
  void make_empty();

  /// Whether so few match that they can be ranked in time: ranking costs much more than finding.
  bool can_rank(const std::string& expression) const;
  /// The next candidates behind a position, at most `count`.
  std::vector<Candidate> candidates(const std::string& expression, const SearchPosition& behind,
                                    std::size_t count) const;

  /// Takes out every message that the store does not have any more, down to the last trigram.
  void forget_deleted();

  /// What it is worth: for reports.
  struct Condition {
    bool usable = false;       ///< of this store as it is; else the next search empties it
    std::string fault{};       ///< what SQLite says of the file; empty when it is whole
    std::int64_t waiting = 0;  ///< ids that were given out since, about the messages to take in
    std::int64_t deleted = 0;  ///< messages that the store does not have, or whose text may linger
  };
  Condition condition() const;

 private:
  bool belongs_to_store(db::Session& session) const;
  void begin(db::Session& session) const;
  /// The position after one batch, and in `newest` how far there is to go.
  MessageId take_batch(db::Session& session, MessageId& newest) const;
  /// Messages of the index that the store does not have.
  std::vector<MessageId> deleted_since(db::Session& session) const;
  void merge_many_segments();
  void merge_segments();

  StoreContext& context_;
  std::string store_;  ///< names the store's file
  std::shared_ptr<db::Database> database_;
};

/// Opens the index and calls `use(index)`. When it turns out to be damaged it is made anew, once.
void with_search_index(StoreContext& context, const std::function<void(SearchIndex&)>& use);

/// Whether the failure is the index's and not the store's: then the search can do without.
bool is_about_search_index(const StoreContext& context, const Error& error);

}  // namespace threadstore::state
