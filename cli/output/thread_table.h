#pragma once

#include <vector>

#include "cli/app/invocation.h"
#include "threadstore/threads.h"

namespace threadstore::cli {

/// The end of an id that lists show and that THREAD takes: the last 8 characters of a long one
/// (UUIDv7: those of one month begin alike), a short one whole.
std::string short_id(const ThreadId& id);

/// "running", "archived" … or "interrupted": stored as running, but its holder died.
std::string shown_status(const StateStore& store, const Thread& thread);

/// What to call a thread: its name, else its first words in quotes.
std::string shown_name(const Thread& thread);

/// Prints the threads as a table; `with_directory` adds where they were started.
void print_threads(Invocation& call, const std::vector<Thread>& threads, bool with_directory);

}  // namespace threadstore::cli
