#pragma once

#include "exchange/run_import.h"

namespace threadstore::exchange {

/// The counters of a usage, as its JSON tells them.
RunUsage read_context_usage(std::string_view json);

/// The tables of a context-harness database. What its first layout lacks reads as unset.
class ContextRuns {
 public:
  ContextRuns(db::Session& session, RunImport& job);

  struct Loaded {
    RunRecord record{};
    std::vector<RunEvent> events{};
  };
  /// A run with all that belongs to it. Its parent is left to the caller.
  Loaded load(const std::string& id);

  void note_unknown();

 private:
  void load_head(const std::string& id, Run& run);
  void load_end(const db::Row& row, Run& run);
  void load_events(const std::string& id, std::vector<RunEvent>& events);
  void load_calls(const std::string& id, Loaded& loaded);
  void load_checkpoints(const std::string& id, RunRecord& record);
  void load_suspensions(const std::string& id, Loaded& loaded);

  db::Session& session_;
  RunImport& job_;
  const ForeignTable runs_, events_, calls_, checkpoints_, suspensions_;
};

}  // namespace threadstore::exchange
