#pragma once

#include <filesystem>

namespace threadstore::test {

/// Makes a store of one file with rows in every table that holds records, some tables several
/// levels deep and some rows on further pages; with an index deeper than one page, and with free
/// pages.
void make_full_store(const std::filesystem::path& file);

}  // namespace threadstore::test
