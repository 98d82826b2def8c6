#pragma once

#include "state/db/migrations.h"

namespace threadstore::state {

/// Everything that `state.db` holds (docs/schema.md): the file format's versions 1 to 5, shared
/// with the program that defined it, and our additive components.
///
/// Invariants of every step
/// 1. Idempotent: a half-stamped or restored file may already have what the step adds.
/// 2. Rows that carry a value keep it: back-filling touches only what the step itself added.
/// 3. Components are additive and of plain SQL: the other program goes on reading, writing and
///    deleting in the same file without knowing of them.
const db::Schema& state_schema();

}  // namespace threadstore::state
