#include "cli/output/check_json.h"

namespace threadstore::cli {

Json checks_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"name", check.name},
                    {"status", to_word(check.status)},
                    {"detail", check.detail},
                    {"advice", check.advice.empty() ? Json(nullptr) : Json(check.advice)}});
  }
  return list;
}

}  // namespace threadstore::cli
