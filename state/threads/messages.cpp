#include "threadstore/messages.h"

#include "state/leases/lease_token.h"
#include "state/store_context.h"
#include "state/threads/message_append.h"
#include "state/threads/view.h"

namespace threadstore {

namespace {

std::size_t size_of(const state::AppendCall& call) {
  std::size_t bytes = 0;
  for (const NewMessage& message : call.messages) {
    bytes += message.content.size() + (message.item ? message.item->size() : 0);
  }
  return bytes;
}

AppendedMany write(state::StoreContext& context, const state::AppendCall& call) {
  return context.write_shared(
      size_of(call), [&](db::Session& session) { return state::append_in(session, call); });
}

}  // namespace

Messages::Messages(std::shared_ptr<state::StoreContext> context) : context_(std::move(context)) {}

Appended Messages::append(const ThreadId& thread, const NewMessage& message,
                          const AppendOptions& options) {
  return write(*context_, state::prepare_append(*context_, thread, {&message, 1}, options)).last;
}

AppendedMany Messages::append_many(const ThreadId& thread, const std::vector<NewMessage>& messages,
                                   const AppendOptions& options) {
  return write(*context_, state::prepare_append(*context_, thread, messages, options));
}

Appended Messages::branch_at(const ThreadId& thread, MessageId parent, const NewMessage& message,
                             const AppendOptions& options) {
  return write(*context_, state::prepare_append(*context_, thread, {&message, 1}, options, parent))
      .last;
}

std::optional<MessageId> Messages::find_by_key(const ThreadId& thread,
                                               const std::string& key) const {
  return context_->read([&](db::Session& session) {
    state::open_view(session, thread);
    return session.value<MessageId>(
        "SELECT message_id FROM message_keys WHERE thread_id = ? AND key = ?", {thread, key});
  });
}

std::optional<std::string> Messages::key_of(const ThreadId& thread, MessageId id) const {
  return context_->read([&](db::Session& session) {
    state::open_view(session, thread);
    return session.value<std::string>(
        "SELECT key FROM message_keys WHERE thread_id = ? AND message_id = ? ORDER BY key LIMIT 1",
        {thread, id});
  });
}

void Messages::set_current_leaf(const ThreadId& thread, std::optional<MessageId> leaf,
                                const std::optional<LeaseToken>& lease) {
  const auto path = leaf ? state::path_to_judge(*context_, thread, *leaf) : nullptr;
  context_->write([&](db::Session& session) {
    const state::View view = state::open_view(session, thread);
    if (lease) state::check_token(session, LeaseKind::thread, thread.str(), *lease);
    if (leaf && !state::shows(session, view, *leaf, path.get())) {
      state::throw_no_message(thread, *leaf);
    }
    session.run("UPDATE threads SET current_leaf_id = ? WHERE id = ?", {leaf, thread});
  });
}

}  // namespace threadstore
