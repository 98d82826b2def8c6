#include "state/threads/history_damage.h"

#include <nlohmann/json.hpp>

#include "threadstore/error.h"

namespace threadstore::state {
namespace {

std::string number(MessageId id) { return std::to_string(to_int(id)); }

constexpr const char* advice = "; doctor lists what is wrong, newer messages can still be read";

}  // namespace

void throw_missing_parent(MessageId child) {
  throw Error(ErrorCode::damaged,
              "the message before message " + number(child) +
                  " does not exist: another program deleted it, or the file is damaged" + advice,
              {{"message_id", to_int(child)}});
}

void throw_parent_cycle(MessageId id) {
  throw Error(ErrorCode::damaged,
              "message " + number(id) + " is its own ancestor: the file is damaged" + advice,
              {{"message_id", to_int(id)}});
}

void throw_foreign_parent(MessageId parent, MessageId child, const ThreadId& owner) {
  throw Error(ErrorCode::damaged,
              "message " + number(child) + " of thread " + owner.str() + " follows message " +
                  number(parent) + " of another thread, though the thread is no fork" + advice,
              {{"message_id", to_int(child)},
               {"parent_entry_id", to_int(parent)},
               {"thread_id", owner.str()}});
}

void throw_vanished(const ThreadId& thread) {
  throw Error(ErrorCode::conflict,
              "thread " + thread.str() + " was cleared or removed while it was read; read it again",
              {{"thread_id", thread.str()}});
}

}  // namespace threadstore::state
