#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "threadstore/enum_names.h"

namespace threadstore {

enum class CheckStatus {
  ok,
  warning,  ///< nothing is lost, but somebody should know
  failed,   ///< something is wrong with the store
};

template <>
struct EnumNames<CheckStatus> {
  static constexpr std::array table{
      std::pair{CheckStatus::ok, std::string_view("ok")},
      std::pair{CheckStatus::warning, std::string_view("warning")},
      std::pair{CheckStatus::failed, std::string_view("failed")},
  };
};

/// The answer of one check of `StateStore::check`.
struct Check {
  std::string name{};  ///< lower-case snake_case: "file_modes"
  CheckStatus status = CheckStatus::ok;
  std::string detail{};  ///< what was found
  std::string advice{};  ///< what to do about it; empty when the status is ok

  friend bool operator==(const Check&, const Check&) = default;
};

/// How much a store holds. Files that do not exist count as 0 bytes.
struct StoreStats {
  std::int64_t threads = 0;   ///< without those that are being removed
  std::int64_t archived = 0;  ///< of these
  std::int64_t forks = 0;     ///< of these
  std::int64_t messages = 0;
  std::int64_t checkpoints = 0;
  std::int64_t jobs = 0;
  std::int64_t goals = 0;
  std::int64_t runs = 0;  ///< agent runs
  std::int64_t database_bytes = 0;
  std::int64_t wal_bytes = 0;
  std::int64_t index_bytes = 0;
  std::int64_t index_lines = 0;
  std::int64_t index_backlog = 0;  ///< lines that wait for the index
  std::int64_t search_bytes = 0;   ///< of the search index and its log

  friend bool operator==(const StoreStats&, const StoreStats&) = default;
};

}  // namespace threadstore
