#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "threadstore/state_store.h"

namespace threadstore::test {

namespace fs = std::filesystem;

inline std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// What the thread's active branch says, oldest first.
inline std::vector<std::string> contents(const StateStore& store, const ThreadId& thread) {
  std::vector<std::string> texts;
  store.messages().walk(thread, std::nullopt, [&](const Message& message) {
    texts.push_back(message.content);
    return true;
  });
  std::reverse(texts.begin(), texts.end());
  return texts;
}

inline void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

/// "code: message" of the error that `body` throws; "none" when it throws none.
template <class Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "none";
}

}  // namespace threadstore::test
