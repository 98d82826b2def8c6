#pragma once

#include <optional>
#include <string>

#include "cli/chat/dialogue.h"
#include "cli/chat/responder.h"
#include "threadstore/runs.h"
#include "threadstore/state_store.h"

namespace threadstore::cli {

/// Keeps one answer on record as a run: what was run, how long, with which exit status, and how it
/// ended. A chat that is killed in between leaves a run that shows as interrupted; asking again
/// (`/retry`) goes on with it or, when the command is another now, gives it up and begins a new
/// one.
class TurnRecord {
 public:
  /// `command` as given to `--exec`; empty: the built-in echo.
  TurnRecord(Dialogue& dialogue, StateStore store, std::string command)
      : dialogue_(dialogue), store_(std::move(store)), command_(std::move(command)) {}
  /// An answer that was not finished has failed.
  ~TurnRecord();
  TurnRecord(const TurnRecord&) = delete;
  TurnRecord& operator=(const TurnRecord&) = delete;

  /// The answer to that message begins.
  void begin(const ThreadId& thread, MessageId trigger, const std::string& words);

  /// It ended, and is stored as that message unless it was empty. Nothing without `begin`. May be
  /// said again when the transaction around it was rolled back.
  void finish(const Reply& reply, std::optional<MessageId> stored);

 private:
  HeldRun hold(Runs runs, const ThreadId& thread, MessageId trigger, const std::string& words);
  std::optional<HeldRun> go_on_with(Runs& runs, const RunId& run) const;
  std::string arguments() const;

  Dialogue& dialogue_;
  StateStore store_;
  std::string command_;
  std::optional<Runs> runs_;
  std::optional<HeldRun> held_;
  bool finished_ = false;
};

}  // namespace threadstore::cli
