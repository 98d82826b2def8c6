#include "state/db/rescue/page_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "state/db/rescue/byte_reader.h"

namespace threadstore::db {
namespace {

using std::string_view_literals::operator""sv;

base::File open_existing(const std::filesystem::path& file) {
  auto opened = base::File::open(file, O_RDONLY);
  if (!opened) base::throw_io("open", file, ENOENT);
  return std::move(*opened);
}

/// The size of a page that fits the file's; 0 when the header holds none.
std::size_t page_size_in(const std::string& header, std::uint64_t file_size) {
  const std::uint64_t stored = ByteReader(header, 16).number(2);
  const std::uint64_t size = stored == 1 ? 65536 : stored;
  const std::uint64_t count = ByteReader(header, 28).number(4);
  if (count * size != file_size && count * kOrdinaryPage == file_size) return kOrdinaryPage;
  return size >= 512 && (size & (size - 1)) == 0 ? size : 0;
}

}  // namespace

PageFile::PageFile(const std::filesystem::path& database)
    : file_(open_existing(database)), wal_(base::File::open(database.string() + "-wal", O_RDONLY)) {
  if (wal_) frames_ = read_wal(*wal_);
  if (frames_.page_size > 0) page_size_ = usable_ = frames_.page_size;
  const auto in_log = frames_.at.find(1);
  const std::string header = in_log == frames_.at.end()
                                 ? file_.read_at(0, kFileHeader)
                                 : wal_->read_at(in_log->second, kFileHeader);
  has_header_ = std::string_view(header).starts_with("SQLite format 3\0"sv);
  const auto size = static_cast<std::uint64_t>(file_.status().size);
  const std::size_t stored_size = has_header_ ? page_size_in(header, size) : 0;
  if (stored_size > 0) {
    if (frames_.page_size == 0) page_size_ = stored_size;
    const std::uint64_t reserved = ByteReader(header, 20).number(1);
    usable_ = page_size_ - (page_size_ >= 480 + reserved ? reserved : 0);
  }
  const std::uint64_t in_file = (size + page_size_ - 1) / page_size_;
  // A log may have shortened the database; what it does not hold is nowhere but in the file.
  std::uint64_t pages = frames_.page_count > 0 ? frames_.page_count : in_file;
  std::uint64_t last = in_file;
  for (const auto& [number, at] : frames_.at) last = std::max<std::uint64_t>(last, number);
  pages = std::min(pages, last);
  count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(pages, UINT32_MAX - 1));
}

std::string PageFile::read(std::uint32_t number) const {
  if (number == 0 || number > count_) return {};
  const auto in_log = frames_.at.find(number);
  std::string page =
      in_log == frames_.at.end()
          ? file_.read_at(std::int64_t{number - 1} * static_cast<std::int64_t>(page_size_), usable_)
          : wal_->read_at(in_log->second, usable_);
  page.resize(usable_);
  return page;
}

std::vector<bool> PageFile::free_pages() const {
  std::vector<bool> free(std::size_t{count_} + 1);
  const std::string first = read(1);
  if (!has_header_) return free;
  auto trunk = static_cast<std::uint32_t>(ByteReader(first, 32).number(4));
  while (trunk > 1 && trunk <= count_ && !free[trunk]) {
    free[trunk] = true;
    const std::string page = read(trunk);
    ByteReader in(page);
    trunk = static_cast<std::uint32_t>(in.number(4));
    for (std::uint64_t left = in.number(4); left > 0; --left) {
      const std::uint64_t leaf = in.number(4);
      if (!in.ok()) break;
      if (leaf > 1 && leaf <= count_) free[leaf] = true;
    }
  }
  return free;
}

bool is_blank(const std::string& page) { return page.find_first_not_of('\0') == std::string::npos; }

}  // namespace threadstore::db
