#include "state/db/rescue/leaf_page.h"

#include <algorithm>
#include <utility>

#include "state/db/rescue/byte_reader.h"

namespace threadstore::db {
namespace {

constexpr char kLeafOfTable = 0x0d;
constexpr std::size_t kPageHeader = 8;
constexpr std::size_t kSmallestCell = 4;

/// How much of a record of that size stands on its own page (SQLite's file format, "cell payload").
std::size_t local_part(std::uint64_t size, std::size_t usable) {
  if (size <= usable - 35) return size;
  const std::size_t least = (usable - 12) * 32 / 255 - 23;
  const std::size_t wanted = least + (size - least) % (usable - 4);
  return wanted <= usable - 35 ? wanted : least;
}

}  // namespace

std::optional<LeafPage> LeafPage::of(const PageFile& pages, std::uint32_t number,
                                     std::string page) {
  const std::size_t start = number == 1 ? kFileHeader : 0;
  if (page.size() <= start + kPageHeader || page[start] != kLeafOfTable) return std::nullopt;
  return LeafPage(pages, number, std::move(page));
}

LeafPage::LeafPage(const PageFile& pages, std::uint32_t number, std::string page)
    : pages_(&pages), number_(number), page_(std::move(page)) {
  const std::size_t start = number == 1 ? kFileHeader : 0;
  const std::uint64_t count = ByteReader(page_, start + 3).number(2);
  ByteReader pointers(page_, start + kPageHeader);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = pointers.number(2);
    if (!pointers.ok()) break;
    cells_.push_back(at < start + kPageHeader ? Cell{} : read_cell(at));
    used_ += std::max(kSmallestCell, cells_.back().bytes);
  }
  const bool all_known = std::all_of(cells_.begin(), cells_.end(),
                                     [](const Cell& cell) { return cell.number.has_value(); });
  hides_rows_ = all_known && hides_bytes(start);
}

/// SQLite leaves no byte between where the rows begin and the end of the page that is neither of a
/// row, nor in the chain of free blocks, nor counted as a fragment.
bool LeafPage::hides_bytes(std::size_t start) const {
  const std::uint64_t stored = ByteReader(page_, start + 5).number(2);
  const std::size_t rows_begin = stored == 0 ? 65536 : stored;
  std::size_t known = used_ + ByteReader(page_, start + 7).number(1);
  std::uint64_t block = ByteReader(page_, start + 1).number(2);
  while (block != 0) {
    ByteReader in(page_, block);
    const std::uint64_t next = in.number(2);
    known += in.number(2);
    if (!in.ok() || (next != 0 && next <= block)) return true;
    block = next;
  }
  return rows_begin + known < page_.size();
}

LeafPage::Cell LeafPage::read_cell(std::size_t at) const {
  ByteReader in(page_, at);
  Cell cell{.number = {}, .size = in.varint()};
  cell.number = static_cast<std::int64_t>(in.varint());
  cell.at = in.position();
  cell.local = local_part(cell.size, pages_->usable());
  in.take(cell.local);
  if (cell.local < cell.size) cell.overflow = static_cast<std::uint32_t>(in.number(4));
  cell.bytes = in.position() - at;
  return in.ok() ? cell : Cell{};
}

std::vector<std::int64_t> LeafPage::numbers() const {
  std::vector<std::int64_t> numbers;
  for (const Cell& cell : cells_) {
    if (cell.number) numbers.push_back(*cell.number);
  }
  return numbers;
}

std::optional<std::string> LeafPage::whole_record(const Cell& cell, std::string& why) const {
  const std::size_t capacity = pages_->usable() - 4;
  if (cell.size / capacity > pages_->count()) {
    why = "its size is wrong";
    return std::nullopt;
  }
  std::string record = page_.substr(cell.at, cell.local);
  std::uint32_t next = cell.overflow;
  while (record.size() < cell.size) {
    const std::string page = pages_->read(next);
    // No last part is blank by right: records end with times and checksums, or in JSON.
    if (page.empty() || is_blank(page)) {
      why = "page " + std::to_string(next) + " of its text is lost";
      return std::nullopt;
    }
    record.append(page, 4, std::min<std::size_t>(capacity, cell.size - record.size()));
    next = static_cast<std::uint32_t>(ByteReader(page).number(4));
  }
  return record;
}

void LeafPage::each(const RowRange& range, const Visit& visit,
                    const std::function<void(LostRows)>& lost) const {
  std::int64_t before = range.first;
  for (auto cell = cells_.begin(); cell != cells_.end(); ++cell) {
    if (!cell->number) {
      const auto next = std::find_if(cell, cells_.end(), [](const Cell& c) { return !!c.number; });
      const std::int64_t last = next == cells_.end() ? range.last : *next->number - 1;
      lost({{before, std::max(before, last)},
            "a row's place on page " + std::to_string(number_) + " is damaged"});
      continue;
    }
    before = std::max(before, *cell->number + 1);
    std::string why;
    const std::optional<std::string> far =
        cell->local < cell->size ? whole_record(*cell, why) : std::nullopt;
    if (cell->local < cell->size && !far) {
      lost({{*cell->number, *cell->number}, why});
      continue;
    }
    const std::string_view near = std::string_view(page_).substr(cell->at, cell->local);
    if (!visit(*cell->number, far ? std::string_view(*far) : near)) return;
  }
  if (hides_rows_) {
    lost({range, "page " + std::to_string(number_) + " holds more than its list of rows names"});
  }
}

}  // namespace threadstore::db
