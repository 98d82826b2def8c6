#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "exchange/json_text.h"

namespace threadstore::exchange {

class ImportJob;

/// Reads a JSON Lines file, plain or zstd, and calls `visit` with each line that is a JSON object
/// and its number from 1. Lines that are not are reported to the job and passed over, as are lines
/// longer than 64 MiB; so is what follows the place where the file cannot be read on. Bytes that
/// are not UTF-8 are replaced, which is reported too.
void each_json_line(const std::filesystem::path& file, ImportJob& job,
                    const std::function<void(JsonText, std::int64_t line)>& visit);

}  // namespace threadstore::exchange
