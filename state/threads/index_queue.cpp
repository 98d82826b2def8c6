#include "state/threads/index_queue.h"

namespace threadstore::state {

void queue_index_line(db::Session& session, const ThreadId& id, IndexLine line) {
  const std::int64_t revives = line == IndexLine::revival ? 1 : 0;
  session.run("INSERT INTO index_outbox(thread_id, revives) VALUES (?, ?)", {id, revives});
}

bool index_stays_behind(const std::shared_ptr<StoreContext>& context) {
  if (!context->feed) return false;
  if (context->database->in_transaction()) {
    context->database->after_commit([context] { context->feed->drain(true); });
    return true;
  }
  return !context->feed->drain(true);
}

}  // namespace threadstore::state
