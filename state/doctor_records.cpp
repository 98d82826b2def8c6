#include <string>
#include <vector>

#include "base/json.h"
#include "state/doctor.h"
#include "state/threads/damaged_messages.h"
#include "state/threads/goal_record.h"
#include "threadstore/error.h"

// What the rows themselves say: checksums of messages, JSON and rules of the records beside them.
// Read in pages by key, each in a snapshot of its own.
namespace threadstore::state {
namespace {

constexpr std::size_t kShown = 20;  // findings that a detail names

std::string first_of(const std::vector<std::string>& findings) {
  std::string text;
  for (std::size_t i = 0; i < findings.size() && i < kShown; ++i) {
    text += (text.empty() ? "" : ", ") + findings[i];
  }
  if (findings.size() > kShown) text += ", …";
  return text;
}

void find_damaged_checkpoints(StoreContext& context, std::vector<std::string>& findings) {
  std::string thread;
  std::string name;
  for (bool more = true; more;) {
    more = false;
    context.read([&](db::Session& session) {
      session.each(R"sql(SELECT thread_id, checkpoint_id, state_json FROM checkpoints
                         WHERE (thread_id, checkpoint_id) > (?, ?)
                         ORDER BY thread_id, checkpoint_id LIMIT 20)sql",
                   {std::string(thread), std::string(name)}, [&](const db::Row& row) {
                     more = true;
                     thread = row.text(0);
                     name = row.text(1);
                     if (!base::find_json_fault(row.view(2))) return;
                     findings.push_back("checkpoint '" + name + "' of thread " + thread);
                   });
    });
  }
}

void find_damaged_tools(StoreContext& context, std::vector<std::string>& findings) {
  std::string thread;
  std::int64_t position = 0;
  for (bool more = true; more;) {
    more = false;
    context.read([&](db::Session& session) {
      session.each(R"sql(SELECT thread_id, position, name, input_schema FROM thread_dynamic_tools
                         WHERE (thread_id, position) > (?, ?)
                         ORDER BY thread_id, position LIMIT 200)sql",
                   {std::string(thread), position}, [&](const db::Row& row) {
                     more = true;
                     thread = row.text(0);
                     position = row.integer(1);
                     if (!base::find_json_fault(row.view(3))) return;
                     findings.push_back("tool '" + row.text(2) + "' of thread " + thread);
                   });
    });
  }
}

void find_damaged_goals(StoreContext& context, std::vector<std::string>& findings) {
  std::string thread;
  for (bool more = true; more;) {
    more = false;
    context.read([&](db::Session& session) {
      session.each(std::string("SELECT ") + kGoalColumns +
                       " FROM thread_goals WHERE thread_id > ? ORDER BY thread_id LIMIT 200",
                   {std::string(thread)}, [&](const db::Row& row) {
                     more = true;
                     thread = row.text(0);
                     try {
                       read_goal(row);
                     } catch (const Error&) {
                       findings.push_back("the goal of thread " + thread);
                     }
                   });
    });
  }
}

}  // namespace

Check check_messages(StoreContext& context) {
  const auto damaged = find_damaged_messages(context, {});
  if (damaged.empty()) return {.detail = "every message is what was stored"};
  std::vector<std::string> findings;
  for (const DamagedMessage& message : damaged) {
    findings.push_back(std::to_string(to_int(message.id)));
  }
  return {.status = CheckStatus::failed,
          .detail = std::to_string(damaged.size()) +
                    (damaged.size() == 1 ? " message is" : " messages are") +
                    " not what was stored: " + first_of(findings),
          .advice = "'threadstore show' marks them; get them from a backup if you have one"};
}

Check check_records(StoreContext& context) {
  std::vector<std::string> findings;
  find_damaged_checkpoints(context, findings);
  find_damaged_tools(context, findings);
  find_damaged_goals(context, findings);
  if (findings.empty()) return {.detail = "every checkpoint, tool and goal can be read"};
  return {.status = CheckStatus::failed,
          .detail = std::to_string(findings.size()) +
                    (findings.size() == 1 ? " record is" : " records are") +
                    " damaged: " + first_of(findings),
          .advice = "save, set or delete each of them again; the others are not affected"};
}

}  // namespace threadstore::state
