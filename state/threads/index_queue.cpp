#include "state/threads/index_queue.h"

namespace threadstore::state {

void queue_index_line(db::Session& session, const ThreadId& id, IndexLine line) {
  const std::int64_t revives = line == IndexLine::revival ? 1 : 0;
  session.run("INSERT INTO index_outbox(thread_id, revives) VALUES (?, ?)", {id, revives});
}

bool index_stays_behind(const std::shared_ptr<StoreContext>& context,
                        const base::Deadline& deadline) {
  if (!context->feed) return false;
  if (context->database->in_transaction()) {
    context->database->after_commit(
        [context] { context->feed->drain(base::Deadline::after(context->deadline)); });
    return true;
  }
  return !context->feed->drain(deadline);
}

}  // namespace threadstore::state
