#pragma once

#include <string>
#include <vector>

namespace threadstore::test {

/// An operation that the public headers of runs declare.
struct ApiMethod {
  std::string name;  ///< "RunCalls::start"; overloads share one
  std::string parameters;
  bool writes = false;  ///< not const
};

/// All of them, as the headers say, so that no test can forget a new one.
std::vector<ApiMethod> run_api();

}  // namespace threadstore::test
