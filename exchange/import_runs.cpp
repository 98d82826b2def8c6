#include "threadstore/import_runs.h"

#include "exchange/context_harness.h"
#include "exchange/format.h"
#include "exchange/head.h"
#include "exchange/io_harness.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

using Path = std::filesystem::path;

void require_file(const StateStore& store, const Path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    if (error == std::errc::permission_denied) {
      throw Error(IoReason::permission, "cannot read " + file.string() + ": " + error.message());
    }
    throw Error(ErrorCode::not_found, "there is no file " + file.string());
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(ErrorCode::invalid_argument,
                "cannot import " + file.string() + ": it is no file; name the database itself");
  }
  if (store.path().has_filename() && std::filesystem::equivalent(file, store.path(), error)) {
    throw Error(ErrorCode::invalid_argument,
                "cannot import " + file.string() + ": it is the store that would take it");
  }
}

/// What a file that holds no runs is, as well as its content tells.
std::string looks_like(const exchange::Head& head) {
  for (const auto& format : exchange::make_formats()) {
    if (format->recognises(head)) {
      return "it looks like " + std::string(format->name()) + ", which `threadstore import` takes";
    }
  }
  if (!head.sqlite) {
    return head.text.empty() ? "it is empty" : "it is no SQLite database";
  }
  if (head.tables.empty()) return "it is a SQLite database without tables";
  std::string names;
  for (std::size_t i = 0; i < head.tables.size() && i < 8; ++i) {
    names += (i == 0 ? "" : ", ") + to_valid_utf8(head.tables[i]);
  }
  return "it is a SQLite database with the tables " + names + (head.tables.size() > 8 ? ", …" : "");
}

[[noreturn]] void refuse(const Path& file, const exchange::Head& head) {
  throw Error(ErrorCode::invalid_argument,
              "cannot import runs of " + file.string() +
                  ": it is neither an io-harness nor a context-harness database; " +
                  looks_like(head));
}

}  // namespace

ImportRunsReport import_runs(StateStore store, const Path& file, const ImportRunsOptions& options) {
  require_file(store, file);
  if (options.workspace.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw Error(ErrorCode::invalid_argument,
                "the workspace of the imported runs must not be blank");
  }
  const exchange::Head head = exchange::read_head(file);
  if (!head.sqlite) refuse(file, head);
  exchange::RunImport job(std::move(store), file, options);
  job.report().source = std::filesystem::absolute(file);
  exchange::open_foreign(file)->read([&](db::Session& session) {
    if (exchange::is_context_harness(session)) {
      job.report().kind = RunStoreKind::context_harness;
      exchange::read_context_harness(session, job);
    } else if (exchange::is_io_harness(session)) {
      exchange::read_io_harness(session, job);
    } else {
      refuse(file, head);
    }
  });
  return job.report();
}

}  // namespace threadstore
