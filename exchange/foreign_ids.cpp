#include "exchange/foreign_ids.h"

#include <algorithm>

#include "base/sha256.h"

namespace threadstore::exchange {
namespace {

bool is_uuid(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

}  // namespace

std::string uuid_for(const std::string& id) {
  if (is_uuid(id)) return id;
  std::string hex = base::sha256_of_text("threadstore thread " + id).substr(0, 32);
  hex[12] = '8';  // the version
  hex[16] = 'a';  // the variant
  return hex.substr(0, 8) + '-' + hex.substr(8, 4) + '-' + hex.substr(12, 4) + '-' +
         hex.substr(16, 4) + '-' + hex.substr(20);
}

}  // namespace threadstore::exchange
