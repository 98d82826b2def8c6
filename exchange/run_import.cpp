#include "exchange/run_import.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "threadstore/error.h"

namespace threadstore::exchange {
namespace {
constexpr std::size_t kMostNotes = 1000;
}

RunImport::RunImport(StateStore store, std::filesystem::path file, const ImportRunsOptions& options)
    : file_(std::move(file)), options_(options), transfer_(store) {}

void RunImport::note(const std::string& where, const std::string& why) {
  ++report_.not_understood_total;
  if (report_.not_understood.size() < kMostNotes) {
    report_.not_understood.push_back({.where = where, .why = why});
  }
}

void RunImport::expect(std::int64_t runs) { total_ = runs; }

std::optional<TakenRun> RunImport::take(const std::string& where,
                                        const std::function<TakenRun()>& take) {
  std::optional<TakenRun> taken;
  try {
    taken = take();
  } catch (const Error& error) {
    const bool of_the_run = error.code() == ErrorCode::invalid_argument ||
                            error.code() == ErrorCode::not_found ||
                            error.code() == ErrorCode::conflict;
    if (!of_the_run) throw;
    note(where, std::string("it was left out: ") + error.what());
  }
  if (taken) {
    ImportedRuns& sum = report_.imported;
    sum.runs += taken->created ? 1 : 0;
    sum.grown += taken->grown ? 1 : 0;
    sum.events += taken->events;
    sum.steps += taken->steps;
    sum.requests += taken->requests;
    sum.spawns += taken->spawns;
    if (taken->went_on) {
      note(where, "it was worked on here since it was imported; what is new there was left out");
    } else if (!taken->created && !taken->grown) {
      ++report_.already_present;
    }
  }
  ++done_;
  if (options_.progress) options_.progress(done_, total_);
  return taken;
}

std::string RunImport::text(const std::string& where, std::string_view stored) {
  std::size_t replaced = 0;
  std::string mended = to_valid_utf8(stored, &replaced);
  if (replaced > 0) {
    note(where,
         std::to_string(replaced) + " bytes of a text are not UTF-8; U+FFFD stands for them");
  }
  return mended;
}

std::string RunImport::json(const std::string& where, std::string_view stored) {
  if (!base::find_json_fault(stored)) return std::string(stored);
  note(where, "a value that should be JSON is not; it was kept as a text");
  return nlohmann::json(text(where, stored)).dump();
}

ForeignTable::ForeignTable(db::Session& session, std::string name) : name_(std::move(name)) {
  const auto names = column_names(session, name_);
  columns_.insert(names.begin(), names.end());
}

std::string ForeignTable::select(const std::vector<Column>& columns) const {
  std::string list;
  for (const Column& column : columns) {
    if (!list.empty()) list += ", ";
    list += has(column.name) ? "\"" + std::string(column.name) + "\"" : column.otherwise;
  }
  return "SELECT " + list + " FROM \"" + name_ + "\"";
}

void ForeignTable::note_others(const std::vector<Column>& known, RunImport& job) const {
  for (const std::string& column : columns_) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const Column& one) { return one.name == column; });
    if (!is_known) {
      job.note("table " + name_, "no known release has a column " + column + "; it was left out");
    }
  }
}

}  // namespace threadstore::exchange
