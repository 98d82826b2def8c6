#include "threadstore/tools.h"

#include <set>

#include "base/json.h"
#include "state/db/session.h"
#include "state/store_context.h"
#include "state/threads/thread_record.h"
#include "threadstore/error.h"

namespace threadstore {
namespace {

Tool read_tool(const db::Row& row) {
  return {
      .position = row.integer(0),
      .name = row.text(1),
      .description = row.get<std::optional<std::string>>(2),
      .input_schema = row.text(3),
  };
}

/// The tools with their positions filled in. Throws when they must not be stored.
std::vector<Tool> checked(const ThreadId& thread, std::vector<Tool> tools) {
  const std::string where = " of the tools of thread " + thread.str();
  std::set<std::int64_t> positions;
  std::int64_t place = 0;
  for (Tool& tool : tools) {
    const std::string which = "tool " + std::to_string(place) + where;
    if (!tool.position) tool.position = place;
    ++place;
    if (*tool.position < 0) {
      throw Error(ErrorCode::invalid_argument,
                  which + " has the negative position " + std::to_string(*tool.position));
    }
    if (!positions.insert(*tool.position).second) {
      throw Error(ErrorCode::invalid_argument, which + " takes position " +
                                                   std::to_string(*tool.position) +
                                                   ", which another has: nothing was changed");
    }
    if (tool.name.empty()) throw Error(ErrorCode::invalid_argument, which + " has no name");
    state::check_text(tool.name, "name");
    state::check_text(tool.description.value_or(""), "description");
    base::check_json(tool.input_schema, "input_schema of " + which);
  }
  return tools;
}

}  // namespace

Tools::Tools(std::shared_ptr<state::StoreContext> context) : context_(std::move(context)) {}

void Tools::replace(const ThreadId& thread, const std::vector<Tool>& tools) {
  const std::vector<Tool> rows = checked(thread, tools);
  context_->write([&](db::Session& session) {
    state::require_thread(session, thread);
    session.run("DELETE FROM thread_dynamic_tools WHERE thread_id = ?", {thread});
    for (const Tool& tool : rows) {
      session.run(R"(INSERT INTO thread_dynamic_tools (thread_id, position, name, description,
                                                       input_schema)
                     VALUES (?, ?, ?, ?, ?))",
                  {thread, tool.position, tool.name, tool.description, tool.input_schema});
    }
  });
}

std::vector<Tool> Tools::list(const ThreadId& thread) const {
  return context_->read([&](db::Session& session) {
    state::require_thread(session, thread);
    auto tools = session.all(R"(SELECT position, name, description, input_schema
                                FROM thread_dynamic_tools WHERE thread_id = ? ORDER BY position)",
                             {thread}, read_tool);
    for (const Tool& tool : tools) {
      base::check_json(tool.input_schema,
                       "input_schema of tool '" + tool.name + "' of thread " + thread.str(),
                       ErrorCode::damaged);
    }
    return tools;
  });
}

}  // namespace threadstore
