#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/db/rescue/lost_rows.h"
#include "state/db/rescue/page_file.h"

namespace threadstore::db {

/// A page that holds rows of a table.
class LeafPage {
 public:
  /// Nothing when the page is not of this kind.
  static std::optional<LeafPage> of(const PageFile& pages, std::uint32_t number, std::string page);

  /// The row numbers that can be read, in the order of the page.
  std::vector<std::int64_t> numbers() const;

  /// Each row that can be read, with what stands on further pages; the bytes are valid during the
  /// call. `lost` gets the others, by their number or, when that is lost too, as a range between
  /// their neighbours within `range`; the whole range when the page holds more than it lists. False
  /// stops. Throws `io`.
  using Visit = std::function<bool(std::int64_t number, std::string_view record)>;
  void each(const RowRange& range, const Visit& visit,
            const std::function<void(LostRows)>& lost) const;

 private:
  /// A row's place on the page, without number when even that cannot be read.
  struct Cell {
    std::optional<std::int64_t> number{};
    std::uint64_t size = 0;      ///< of the whole record
    std::size_t at = 0;          ///< where its first part begins
    std::size_t local = 0;       ///< how much of it stands here
    std::size_t bytes = 0;       ///< what it takes of the page
    std::uint32_t overflow = 0;  ///< the page with the next part; 0: there is none
  };

  LeafPage(const PageFile& pages, std::uint32_t number, std::string page);
  Cell read_cell(std::size_t at) const;
  bool hides_bytes(std::size_t start) const;
  /// Nothing when a page of the chain is lost, which `why` then names.
  std::optional<std::string> whole_record(const Cell& cell, std::string& why) const;

  const PageFile* pages_;
  std::uint32_t number_;
  std::string page_;
  std::vector<Cell> cells_;
  std::size_t used_ = 0;     ///< bytes of the cells
  bool hides_rows_ = false;  ///< some bytes are neither listed rows nor free
};

}  // namespace threadstore::db
