#include "state/db/rescue/row_rescue.h"

#include <algorithm>
#include <utility>

#include "state/db/rescue/orphan_pages.h"
#include "state/db/rescue/record.h"
#include "state/db/rescue/table_walk.h"
#include "threadstore/error.h"

namespace threadstore::db {
namespace {

/// A page without a parent, and the table that lost it.
struct Orphan {
  std::size_t table = 0;
  RowRange rows{};
  std::uint32_t page = 0;
};

RowRange range_of(const std::vector<std::int64_t>& numbers) {
  const auto [first, last] = std::minmax_element(numbers.begin(), numbers.end());
  return {*first, *last};
}

bool lacks(const RescueTable& table, std::int64_t number) {
  return std::any_of(table.lost.begin(), table.lost.end(),
                     [&](const LostRows& lost) { return lost.rows.contains(number); });
}

/// How well the page looks like one that the table lost; 0: it is none of it.
std::size_t likeness(RescueTable& table, const LeafPage& leaf,
                     const std::vector<std::string>& keys) {
  std::size_t sum = 0;
  bool fits = true;
  leaf.each(
      {},
      [&](std::int64_t number, std::string_view record) {
        const auto fields = read_record(record);
        const std::size_t row = fields && lacks(table, number) ? table.likeness(*fields, keys) : 0;
        sum += row;
        return fits = row > 0;
      },
      [](const LostRows&) {});
  return fits ? sum : 0;
}

/// The first field of every row on the pages without a parent, sorted: what foreign keys name.
std::vector<std::string> keys_on_orphans(const PageFile& pages, const std::vector<bool>& reached) {
  std::vector<std::string> keys;
  each_orphan(pages, reached, [&](std::uint32_t, const LeafPage& leaf) {
    leaf.each(
        {},
        [&](std::int64_t, std::string_view record) {
          const auto fields = read_record(record);
          if (!fields || fields->empty()) return true;
          const auto* text = std::get_if<std::string_view>(&fields->front().storage());
          if (text != nullptr) keys.emplace_back(*text);
          return true;
        },
        [](const LostRows&) {});
  });
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

RowRescue::RowRescue(const std::filesystem::path& destination, const std::filesystem::path& source)
    : source_name_(source.filename().string()),
      pages_(source),
      schema_(read_schema(pages_)),
      reached_(schema_.pages),
      connection_({.file = destination.string(), .location = destination.string()}, Role::writer),
      session_(connection_) {
  // Without a log, which would hold every row a second time.
  session_.script("PRAGMA foreign_keys=OFF; PRAGMA synchronous=OFF; PRAGMA journal_mode=DELETE");
}

std::vector<RescuedTable> RowRescue::copy(
    const std::vector<std::string>& names,
    const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const bool foreign = schema_.whole && !schema_.tables.empty() &&
                       std::none_of(names.begin(), names.end(), [&](const std::string& name) {
                         return schema_.tables.count(name) > 0;
                       });
  if (foreign) {
    throw Error(ErrorCode::invalid_argument,
                "cannot salvage " + source_name_ +
                    ": it is a SQLite database of another program, whose own tools may get what is "
                    "readable; nothing was made");
  }
  std::vector<RescueTable> tables;
  tables.reserve(names.size());
  for (const std::string& name : names) {
    const auto source = schema_.tables.find(name);
    std::optional<TableLayout> layout;
    if (source != schema_.tables.end()) layout = parse_layout(name, source->second.create);
    tables.emplace_back(connection_, name, layout ? *layout : layout_of(session_, name));
    connection_.run("BEGIN", "write to");
    read(tables.back());
    connection_.run("COMMIT", "write to");
    if (progress)
      progress(static_cast<std::int64_t>(tables.size()), static_cast<std::int64_t>(names.size()));
  }
  connection_.run("BEGIN", "write to");
  adopt_orphans(tables);
  carry_sequences();
  connection_.run("COMMIT", "write to");

  std::vector<RescuedTable> rescued;
  bool any = pages_.has_header();
  for (RescueTable& table : tables) {
    tidy(table.lost);
    rescued.push_back({.rows = table.rows(), .lost = std::move(table.lost)});
    any = any || rescued.back().rows > 0;
  }
  if (!any) {
    throw Error(ErrorCode::damaged, "cannot salvage " + source_name_ +
                                        ": it is not a SQLite database, and no row of a store "
                                        "was found in it");
  }
  return rescued;
}

void RowRescue::read(RescueTable& table) {
  const auto source = schema_.tables.find(table.name());
  if (source != schema_.tables.end()) {
    walk(table, source->second.root, /*in_place=*/true);
  } else if (!schema_.whole) {
    table.lost.push_back({{}, "the table is no longer in the list of tables"});
  }
}

/// Rows whose number is damaged come last: theirs may be that of another row.
void RowRescue::walk(RescueTable& table, std::uint32_t root, bool in_place) {
  TableWalk walk(pages_);
  bool others = false;
  walk.run(root, [&](std::int64_t number, std::string_view record, bool is_in_place) {
    const auto fields = read_record(record);
    if (!fields || !table.may_be_row(*fields)) return false;
    others = others || is_in_place != in_place;
    if (is_in_place == in_place) table.put(number, *fields);
    return true;
  });
  if (!in_place) return;
  table.lost.insert(table.lost.end(), walk.lost().begin(), walk.lost().end());
  for (std::size_t page = 0; page < reached_.size(); ++page) {
    if (walk.pages()[page]) reached_[page] = true;
  }
  if (others) this->walk(table, root, /*in_place=*/false);
}

void RowRescue::adopt_orphans(std::vector<RescueTable>& tables) {
  const bool complete = std::all_of(tables.begin(), tables.end(),
                                    [](const RescueTable& table) { return table.lost.empty(); });
  if (complete) return;
  const auto keys = keys_on_orphans(pages_, reached_);
  std::vector<Orphan> orphans;
  each_orphan(pages_, reached_, [&](std::uint32_t number, const LeafPage& leaf) {
    if (leaf.numbers().empty()) return;
    Orphan orphan{.rows = range_of(leaf.numbers()), .page = number};
    std::size_t best = 0;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const std::size_t found = tables[i].lost.empty() ? 0 : likeness(tables[i], leaf, keys);
      if (found > best) orphan.table = i, best = found;
    }
    if (best > 0) orphans.push_back(orphan);
  });
  std::sort(orphans.begin(), orphans.end(), [](const Orphan& a, const Orphan& b) {
    return std::pair(a.table, a.rows.first) < std::pair(b.table, b.rows.first);
  });
  for (const Orphan& orphan : orphans) {
    RescueTable& table = tables[orphan.table];
    take_out(table.lost, orphan.rows);
    const auto leaf = LeafPage::of(pages_, orphan.page, pages_.read(orphan.page));
    if (!leaf) continue;
    leaf->each(
        orphan.rows,
        [&](std::int64_t number, std::string_view record) {
          if (const auto fields = read_record(record)) table.put(number, *fields);
          return true;
        },
        [&](LostRows lost) { table.lost.push_back(std::move(lost)); });
  }
}

/// So that no number that was given once is given again, though its row was deleted or is lost.
void RowRescue::carry_sequences() {
  const auto source = schema_.tables.find("sqlite_sequence");
  if (source == schema_.tables.end()) return;
  TableWalk walk(pages_);
  walk.run(source->second.root, [&](std::int64_t, std::string_view record, bool) {
    const auto fields = read_record(record);
    if (!fields || fields->size() != 2) return false;
    const auto* table = std::get_if<std::string_view>(&(*fields)[0].storage());
    const auto* number = std::get_if<std::int64_t>(&(*fields)[1].storage());
    if (table == nullptr || number == nullptr) return false;
    if (*number > kHighestRow || layout_of(session_, std::string(*table)).empty()) return true;
    const auto changed = session_.run(
        "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", {*table, *number});
    if (changed == 0) {
      session_.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", {*table, *number});
    }
    return true;
  });
}

}  // namespace threadstore::db
