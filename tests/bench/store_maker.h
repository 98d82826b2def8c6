#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "threadstore/state_store.h"

namespace threadstore::bench {

/// A store to be made.
struct StoreShape {
  std::int64_t threads = 1;
  std::int64_t messages = 0;  ///< of all threads, in equal shares
  /// How long a thread's active branch may be. What a thread has beyond grows from its first
  /// message as further branches. 0: one chain.
  std::int64_t depth = 0;
  std::size_t bytes = 1024;  ///< of one message's content
};

/// The threads' ids, "bench-000000001" upwards: the same shape gives the same store but for times.
ThreadId made_thread(std::int64_t number);

/// Text of exactly that size, different for each number.
std::string made_content(std::size_t bytes, std::int64_t number);

/// Adds the threads and messages through the library, some thousand rows per commit. Threads differ
/// in directory, provider, source, name and time, so that every filter matches a few per cent.
void fill_store(StateStore& store, const StoreShape& shape, const Progress& progress = {});

/// Opens a new store at `directory`/state.db and fills it.
StateStore make_store(const std::filesystem::path& directory, const StoreShape& shape,
                      const Progress& progress = {});

/// Copies the files of a store that nobody has open.
void copy_store(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace threadstore::bench
