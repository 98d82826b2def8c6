#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace threadstore::exchange {

class ImportJob;

/// The beginning of a file, enough to tell what it is.
struct Head {
  std::filesystem::path file{};
  std::string text{};  ///< the first bytes, decompressed; empty for a database
  bool sqlite = false;
  std::vector<std::string> tables{};  ///< of a database

  /// The first lines that are JSON objects, at most 50.
  std::vector<std::string_view> objects() const;
  bool has_table(std::string_view name) const;
};

/// What must be known of a file before any is read, so that sources come before their forks.
struct Identity {
  std::string session{};             ///< empty: nobody refers to it
  std::vector<std::string> needs{};  ///< sessions to be read before
  /// Files beside it that it cannot do without, also when only it was asked for.
  std::vector<std::filesystem::path> companions{};
};

/// A kind of file. One object per import: what a format learns of a folder it may keep.
class Format {
 public:
  Format() = default;
  virtual ~Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;

  virtual std::string_view name() const = 0;
  virtual bool recognises(const Head& head) const = 0;
  virtual Identity identify(const Head&) { return {}; }
  /// Reads the file and hands what it holds to the job's writer. What cannot be taken is reported
  /// with `ImportJob::skip`; throws only what ends the whole import.
  virtual void read(const std::filesystem::path& file, ImportJob& job) = 0;
  /// After the last file of all: takes what had to wait for others.
  virtual void finish(ImportJob&) {}
};

/// All formats, in the order in which they are asked.
std::vector<std::unique_ptr<Format>> make_formats();

}  // namespace threadstore::exchange
