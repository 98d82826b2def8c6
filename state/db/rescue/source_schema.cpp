#include "state/db/rescue/source_schema.h"

#include <string_view>

#include "state/db/rescue/orphan_pages.h"
#include "state/db/rescue/record.h"
#include "state/db/rescue/table_walk.h"

namespace threadstore::db {
namespace {

std::string_view text_of(const Value& value) {
  const auto* text = std::get_if<std::string_view>(&value.storage());
  return text == nullptr ? std::string_view() : *text;
}

/// 0, which is no page, for what is none.
std::uint32_t root_number(std::int64_t stored) {
  return stored > 0 && stored <= UINT32_MAX ? static_cast<std::uint32_t>(stored) : 0;
}

/// Adds a row (type, name, tbl_name, rootpage, sql) if it is of a table; whether it is one of the
/// list.
bool add_row(SourceSchema& schema, std::string_view record) {
  const auto fields = read_record(record);
  if (!fields || fields->size() != 5) return false;
  const std::string_view type = text_of((*fields)[0]);
  const auto* root = std::get_if<std::int64_t>(&(*fields)[3].storage());
  if (root == nullptr || text_of((*fields)[1]).empty()) return false;
  if (type != "table") return type == "index" || type == "trigger" || type == "view";
  // Both are its name; one of them may be damaged.
  for (const std::size_t name : {1U, 2U}) {
    schema.tables.try_emplace(
        std::string(text_of((*fields)[name])),
        SourceTable{.root = root_number(*root), .create = std::string(text_of((*fields)[4]))});
  }
  return true;
}

}  // namespace

SourceSchema read_schema(const PageFile& pages) {
  SourceSchema schema;
  TableWalk walk(pages);
  walk.run(1, [&](std::int64_t, std::string_view record, bool) { return add_row(schema, record); });
  schema.pages = walk.pages();
  schema.whole = walk.lost().empty();
  if (schema.whole) return schema;
  each_orphan(pages, schema.pages, [&](std::uint32_t number, const LeafPage& leaf) {
    bool all = !leaf.numbers().empty();
    SourceSchema found;
    leaf.each(
        {}, [&](std::int64_t, std::string_view record) { return all = add_row(found, record); },
        [](const LostRows&) {});
    if (!all) return;
    schema.pages[number] = true;
    schema.tables.merge(found.tables);
  });
  return schema;
}

}  // namespace threadstore::db
