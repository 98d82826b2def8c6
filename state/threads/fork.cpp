#include "base/ids.h"
#include "state/threads/index_queue.h"
#include "state/threads/thread_record.h"
#include "state/threads/view.h"
#include "threadstore/threads.h"

namespace threadstore {

namespace {

/// The fork goes on where and as the source was; it has its own name, transcript and times.
Thread forked(Thread source, const ForkRequest& request, UnixMillis now) {
  source.id = request.id ? *request.id : ThreadId(base::make_uuid_v7(now));
  source.name = request.name;
  if (request.cwd) source.cwd = *request.cwd;
  source.source = SessionSource::fork;
  source.status = ThreadStatus::idle;
  source.created_at = source.updated_at = request.created_at.value_or(now / 1000);
  source.rollout_path.reset();
  source.archived = false;
  source.archived_at.reset();
  return source;
}

}  // namespace

ThreadChange Threads::fork(const ForkRequest& request) {
  const auto deadline = base::Deadline::after(context_->deadline);
  const auto path =
      request.at ? state::path_to_judge(*context_, request.source, *request.at) : nullptr;
  ThreadChange change;
  change.thread = context_->write([&](db::Session& session) {
    const state::View view = state::open_view(session, request.source);
    if (request.at && !state::shows(session, view, *request.at, path.get())) {
      state::throw_no_message(request.source, *request.at);
    }
    Thread fork = forked(state::get_thread(*context_, session, request.source), request,
                         context_->now_millis());
    fork.current_leaf_id = request.at ? request.at : state::current_leaf(session, view);
    state::check_thread(fork);
    state::insert_thread(session, fork);
    session.run(R"sql(
        INSERT INTO thread_forks(thread_id, source_thread_id, message_id, created_at)
        VALUES (?, ?, ?, ?))sql",
                {fork.id, request.source, fork.current_leaf_id, fork.created_at});
    state::queue_index_line(session, fork.id);
    return state::get_thread(*context_, session, fork.id);
  });
  change.index_pending = state::index_stays_behind(context_, deadline);
  return change;
}

}  // namespace threadstore
