#include <chrono>

#include "threadstore/time.h"

namespace threadstore {

Clock system_clock() {
  return [] {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  };
}

}  // namespace threadstore
