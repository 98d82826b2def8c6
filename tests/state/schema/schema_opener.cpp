// schema_opener FILE ROUNDS: for each round waits for a line, opens FILE.<round> migrated, answers
// "<user_version> <components>" or the error.
#include <iostream>
#include <string>

#include "tests/state/schema/migrated_file.h"

int main(int count, char** arguments) {
  using namespace threadstore;
  if (count != 3) return 2;
  std::cout << "ready" << std::endl;
  const int rounds = std::stoi(arguments[2]);
  std::string go;
  for (int round = 0; round < rounds && std::getline(std::cin, go); ++round) {
    try {
      const auto database =
          test::open_migrated(std::string(arguments[1]) + "." + std::to_string(round));
      std::cout << test::rows(*database, "PRAGMA user_version").at(0) << ' '
                << test::rows(*database, "SELECT count(*) FROM threadstore_schema").at(0)
                << std::endl;
    } catch (const std::exception& error) {
      std::cout << error.what() << std::endl;
    }
  }
}
