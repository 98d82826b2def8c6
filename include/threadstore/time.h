#pragma once

#include <cstdint>
#include <functional>

namespace threadstore {

/// Seconds since 1970-01-01T00:00:00Z: threads, messages, checkpoints, jobs, goals, index entries.
using UnixSeconds = std::int64_t;

/// Milliseconds since 1970-01-01T00:00:00Z: agent runs.
using UnixMillis = std::int64_t;

/// Where the store takes the time from. Called from any thread that uses the store.
using Clock = std::function<UnixMillis()>;

/// The system's wall clock.
Clock system_clock();

}  // namespace threadstore
