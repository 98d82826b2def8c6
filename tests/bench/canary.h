#pragma once

#include <filesystem>
#include <string>

namespace threadstore::bench {

/// The least that a durable append can cost here and now: 1 KiB added to a file, and fdatasync. A
/// round whose canary is slow was measured on a busy disk.
class Canary {
 public:
  explicit Canary(const std::filesystem::path& directory, std::size_t bytes = 1024);
  ~Canary();
  Canary(const Canary&) = delete;
  Canary& operator=(const Canary&) = delete;

  /// Seconds of one append.
  double sing();

 private:
  std::filesystem::path file_;
  int descriptor_;
  std::string bytes_;
};

}  // namespace threadstore::bench
