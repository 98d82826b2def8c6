#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "state/db/rescue/wal_frames.h"

namespace threadstore::db {

/// The size of a page where nothing says another: what a store is made with.
constexpr std::size_t kOrdinaryPage = 4096;

/// The pages of a SQLite database, which may be damaged, as they stand in the file and its
/// write-ahead log; numbered from 1. Nothing in the file is believed without a look at its size.
class PageFile {
 public:
  /// A file of ours that no connection has open (see PrivateCopy). Throws `io`.
  explicit PageFile(const std::filesystem::path& database);

  /// The first page begins as that of a database does.
  bool has_header() const noexcept { return has_header_; }
  std::uint32_t count() const noexcept { return count_; }
  /// Bytes of a page that SQLite fills.
  std::size_t usable() const noexcept { return usable_; }

  /// The usable bytes; what the end of the file tore off reads as NULs. Empty without such a page.
  /// Throws `io`.
  std::string read(std::uint32_t number) const;

  /// By page number, which pages the list of free pages names; as far as that can be read.
  std::vector<bool> free_pages() const;

 private:
  base::File file_;
  std::optional<base::File> wal_;
  WalFrames frames_;
  bool has_header_ = false;
  std::size_t page_size_ = kOrdinaryPage;
  std::size_t usable_ = kOrdinaryPage;
  std::uint32_t count_ = 0;
};

/// Nothing but NULs: what a lost page leaves.
bool is_blank(const std::string& page);

/// What the first page has before its cells.
constexpr std::size_t kFileHeader = 100;

}  // namespace threadstore::db
