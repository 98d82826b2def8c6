#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "exchange/record.h"
#include "threadstore/state_store.h"

namespace threadstore::exchange {

class ImportJob;

/// Puts sessions into the store, in batches of one transaction each.
///
/// Invariants
/// 1. A message is stored once: its key decides, not its content.
/// 2. Nothing that was stored before is changed. The active branch of a thread moves only when its
///    tip came from an import.
/// 3. Memory holds one batch, whatever the size of a session.
/// Not thread-safe.
class HistoryWriter {
 public:
  explicit HistoryWriter(ImportJob& job) : job_(job) {}

  /// The sessions come one after the other: `begin`, any number of `add`, `end`.
  void begin(const std::filesystem::path& file, SessionRecord session);
  void add(MessageRecord message);
  /// After the message that is its leaf.
  void add(CheckpointRecord checkpoint);
  void end(SessionEnd end);
  /// Forgets a session that was begun, with what of it was not stored yet.
  void abandon();

  /// Stores what was collected. Called by itself when a batch is full.
  void flush();

  /// The message of that key in the thread or in one that it was forked from. Flushes before.
  std::optional<MessageId> find(const ThreadId& thread, const std::string& key);

 private:
  struct Begin {
    std::filesystem::path file;
    SessionRecord session;
  };
  using Step = std::variant<Begin, MessageRecord, CheckpointRecord, SessionEnd>;

  /// The session that is being written, as far as the last batch left it.
  struct Current {
    std::filesystem::path file{};
    SessionRecord session{};
    ThreadId thread{};
    std::vector<ThreadId> lineage{};        ///< whose keys its messages may have
    bool existed = false;                   ///< before this import of it
    bool made = false;                      ///< its row is there
    bool refused = false;                   ///< the thread is somebody else's: nothing is taken
    bool sharing = false;                   ///< still inside the copy of what it was forked from
    std::optional<MessageId> fork_point{};  ///< the last message that is the same in both
    bool header_written = false;
    std::optional<MessageId> header{};
    std::optional<MessageId> leaf_before{};
    std::optional<bool> leaf_is_ours{};
    std::string last_key{};
    std::optional<MessageId> last{};
    std::map<std::string, std::optional<MessageId>> aliases{};  ///< of messages stored otherwise
    std::string preview{};
    std::int64_t added = 0;
  };
  struct Counts {
    std::int64_t threads = 0, grown = 0, messages = 0, already_present = 0;
  };
  struct Report {
    std::filesystem::path file;
    std::int64_t line;
    std::string why;
  };
  /// All that a batch changes outside of the store: kept aside until it is committed.
  struct State {
    Current current{};
    Counts counts{};
    std::vector<Report> reports{};
  };

  void apply(const Begin& begin, State& state);
  void apply(const MessageRecord& record, State& state);
  void apply(const CheckpointRecord& record, State& state);
  void apply(const SessionEnd& end, State& state);

  void make_thread(State& state);
  void write_header(State& state);
  void store(const MessageRecord& record, std::optional<MessageId> parent, State& state);
  bool is_shared(const MessageRecord& record, Current& current);
  bool is_pretended(const MessageRecord& record, const Current& current) const;
  void pretend(const MessageRecord& record, const Current& current);
  std::optional<MessageId> present(const MessageRecord& record, Current& current);
  std::optional<MessageId> parent_of(const MessageRecord& record, State& state);
  bool copied_as_said(const MessageRecord& record, MessageId id, const ThreadId& thread);
  /// The thread and what it was forked from, as far as they are there. A fork knows the keys of its
  /// own messages only: what it inherited has its key at the source.
  std::vector<ThreadId> lineage_of(const ThreadId& thread);
  std::optional<MessageId> lookup(const std::vector<ThreadId>& lineage, const std::string& key);
  bool leaf_is_ours(Current& current);
  std::optional<MessageId> find_leaf(const std::string& key, const Current& current);
  void set_metadata(const SessionEnd& end, State& state);

  ImportJob& job_;
  std::vector<Step> steps_;
  std::size_t bytes_ = 0;
  State state_;
  std::set<ThreadId> made_;  ///< by this import: what comes to them later does not make them grow
  /// In a dry run: what sessions that others were copied from would hold, as hashes.
  std::map<ThreadId, std::set<std::size_t>> pretended_;
};

}  // namespace threadstore::exchange
