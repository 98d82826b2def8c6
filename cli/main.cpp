#include <string>
#include <vector>

#include "cli/app/run.h"

int main(int argc, char** argv) {
  threadstore::cli::prepare_process();
  return threadstore::cli::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
