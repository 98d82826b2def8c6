#pragma once

#include <optional>
#include <string>
#include <vector>

namespace threadstore {

/// A part of a longer list. `next` is an opaque cursor: pass it as the filter's `after` to read on;
/// absent when this was the last part. A cursor stays valid while the store changes: items that
/// move behind it are seen again, none is skipped.
template <class T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next;
};

}  // namespace threadstore
