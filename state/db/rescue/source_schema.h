#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "state/db/rescue/page_file.h"

namespace threadstore::db {

struct SourceTable {
  std::uint32_t root = 0;  ///< the page where its rows begin
  std::string create{};    ///< its CREATE TABLE statement
};

/// A damaged database's list of its tables (sqlite_master).
struct SourceSchema {
  std::map<std::string, SourceTable> tables{};
  bool whole = true;          ///< no part of the list is lost
  std::vector<bool> pages{};  ///< by number: those that hold the list
};

/// Rows of the list that no page leads to any more are found by what they look like.
SourceSchema read_schema(const PageFile& pages);

}  // namespace threadstore::db
