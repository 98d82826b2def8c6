#include "cli/chat/session.h"

#include <algorithm>
#include <utility>

#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::size_t preview_bytes = 120;

// The first line of what the user said, cut between characters.
std::string preview_of(const std::string& content) {
  const std::string_view line = std::string_view(content).substr(0, content.find('\n'));
  return std::string(cut_at_code_point(line, preview_bytes));
}

}  // namespace

ConversationSession::ConversationSession(StateStore store, SessionStart start)
    : store_(std::move(store)), start_(std::move(start)) {}

ConversationSession::~ConversationSession() {
  try {
    close();
  } catch (const std::exception&) {
    // The status stays `running` without a live lease: shown as interrupted, which it is.
  }
}

bool ConversationSession::open(const ThreadId& thread, bool take_over) {
  const Thread found = store_.threads().get(thread);
  std::optional<LeaseState> before;
  std::optional<Lease> lease;
  if (!start_.ephemeral) {
    Leases leases = store_.leases();
    before = leases.find(LeaseKind::thread, thread.str());
    lease = take_over ? leases.take_over(LeaseKind::thread, thread.str(), chat_program)
                      : leases.acquire(LeaseKind::thread, thread.str(), chat_program);
  }
  close();
  thread_ = thread;
  if (lease) hold(std::move(*lease));
  reload_leaf();
  return found.status == ThreadStatus::running && before && !before->alive;
}

void ConversationSession::hold(Lease lease) {
  lease_ = std::move(lease);
  store_.threads().set_status(id(), ThreadStatus::running);
}

void ConversationSession::close() {
  const std::optional<ThreadId> thread = std::exchange(thread_, std::nullopt);
  std::optional<Lease> lease = std::exchange(lease_, std::nullopt);
  leaf_.reset();
  start_.name.reset();
  if (!lease) return;
  try {
    // One transaction: nobody can take over between the question and the status.
    store_.transaction([&] {
      if (lease->still_held()) store_.threads().set_status(*thread, ThreadStatus::idle);
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;  // removed: nothing to say any more
  }
  lease->release();
}

std::optional<std::string> ConversationSession::name() const {
  if (!thread_) return start_.name;
  const std::optional<Thread> found = store_.threads().find(id());  // it may have been deleted
  return found ? found->name : std::nullopt;
}

Stored ConversationSession::append(const NewMessage& message,
                                   const std::function<void(MessageId)>& also) {
  if (!thread_) return begin(message, also);
  if (!leaf_ && message.role == "user") {
    const Thread thread = this->thread();
    if (thread.preview.empty()) {
      store_.threads().update(id(), {.preview = preview_of(message.content)});
    }
  }
  const AppendOptions options{
      .expected_leaf = ExpectedLeaf{leaf_}, .on_conflict = OnConflict::branch, .lease = token()};
  Appended appended;
  const auto write = [&] {
    appended = store_.messages().append(id(), message, options);
    if (also) also(appended.id);
  };
  if (also) {
    store_.transaction(write);
  } else {
    write();
  }
  leaf_ = appended.id;
  Stored stored{.id = appended.id};
  if (appended.branched) stored.other_tip = appended.current_leaf_id;
  return stored;
}

Stored ConversationSession::begin(const NewMessage& message,
                                  const std::function<void(MessageId)>& also) {
  ThreadId made;
  Appended first;
  store_.transaction([&] {
    made = store_.threads()
               .create({.name = start_.name,
                        .cwd = start_.cwd,
                        .preview = preview_of(message.content),
                        .cli_version = start_.cli_version,
                        .ephemeral = start_.ephemeral})
               .thread.id;
    first = store_.messages().append(made, message);
    if (also) also(first.id);
  });
  thread_ = made;
  leaf_ = first.id;
  if (!start_.ephemeral) {
    hold(store_.leases().acquire(LeaseKind::thread, made.str(), chat_program));
  }
  return {.id = first.id};
}

bool ConversationSession::taken_over() const { return lease_ && !lease_->still_held(); }

void ConversationSession::continue_beside() { lease_.reset(); }

void ConversationSession::reload_leaf() { leaf_ = thread().current_leaf_id; }

void ConversationSession::open_fork(const ThreadId& source, std::optional<MessageId> at) {
  open(store_.threads().fork({.source = source, .at = at, .cwd = start_.cwd}).thread.id);
}

void ConversationSession::switch_to(std::optional<MessageId> leaf) {
  store_.messages().set_current_leaf(id(), leaf, token());
  leaf_ = leaf;
}

Checkpoint ConversationSession::restore(const CheckpointId& checkpoint) {
  Checkpoint restored = store_.checkpoints().restore(id(), checkpoint, token());
  leaf_ = restored.leaf_id;
  return restored;
}

void ConversationSession::rename(const std::string& name) {
  if (thread_) {
    store_.threads().rename(id(), name);
  } else {
    start_.name = name;
  }
}

Conversation ConversationSession::conversation() const {
  Conversation out{.thread = thread(), .messages = {}};
  if (!leaf_) return out;
  store_.messages().walk(id(), leaf_, [&](const Message& message) {
    out.messages.push_back(message);
    return true;
  });
  std::reverse(out.messages.begin(), out.messages.end());
  return out;
}

BranchPage ConversationSession::last_messages(std::size_t limit) const {
  if (!thread_ || !leaf_) return {};
  return store_.messages().list(id(), {.leaf = leaf_, .limit = limit});
}

std::optional<LeaseToken> ConversationSession::token() const {
  if (!lease_) return std::nullopt;
  return lease_->token();
}

}  // namespace threadstore::cli
