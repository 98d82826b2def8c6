#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/commands/thread_argument.h"
#include "cli/output/record_json.h"
#include "cli/output/table.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"

namespace threadstore::cli {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "cannot set the tools from " + file + ": " + why);
}

std::string read_text(Invocation& call, const std::string& file) {
  if (file == "-") return text_argument(call, file, "the tools");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  if (!in || !(bytes << in.rdbuf())) {
    throw Error(ErrorCode::io, "cannot read the tools from " + file);
  }
  return bytes.str();
}

Tool tool_from(const std::string& file, const Json& entry) {
  if (!entry.is_object() || !entry.contains("name") || !entry.at("name").is_string()) {
    refuse(file, "each tool is an object with a \"name\"");
  }
  Tool tool{.name = entry.at("name").get<std::string>()};
  if (entry.contains("description") && !entry.at("description").is_null()) {
    if (!entry.at("description").is_string()) refuse(file, "a \"description\" is a text");
    tool.description = entry.at("description").get<std::string>();
  }
  if (entry.contains("input_schema")) tool.input_schema = entry.at("input_schema").dump();
  if (entry.contains("position") && !entry.at("position").is_null()) {
    if (!entry.at("position").is_number_integer()) refuse(file, "a \"position\" is a whole number");
    tool.position = entry.at("position").get<std::int64_t>();
  }
  return tool;
}

/// An array of tools, or what `tools list --json` prints.
std::vector<Tool> tools_from(Invocation& call, const std::string& file) {
  Json document = Json::parse(read_text(call, file), nullptr, false);
  if (document.is_discarded()) refuse(file, "it is not valid JSON");
  if (document.is_object() && document.contains("items")) document = document.at("items");
  if (!document.is_array()) refuse(file, "it is not a JSON array of tools");
  std::vector<Tool> tools;
  for (const Json& entry : document) tools.push_back(tool_from(file, entry));
  return tools;
}

struct Options {
  std::string thread, file;
};

Action declare_set(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  syntax
      .add_option("file", options->file,
                  "A JSON array of {\"name\", \"description\"?, \"input_schema\"?, \"position\"?}; "
                  "- reads standard input")
      ->type_name("FILE")
      ->required();
  return [options](Invocation& call) {
    const ThreadId thread = resolve_thread(call, options->thread).id;
    const std::vector<Tool> tools = tools_from(call, options->file);
    call.store().tools().replace(thread, tools);
    if (call.json()) return call.print({{"count", tools.size()}});
    call.out() << tools.size() << (tools.size() == 1 ? " tool\n" : " tools\n");
  };
}

Action declare_list_tools(Syntax& syntax) {
  auto given = std::make_shared<std::string>();
  add_thread(syntax, *given);
  return [given](Invocation& call) {
    const auto tools = call.store().tools().list(resolve_thread(call, *given).id);
    if (call.json()) {
      Json items = Json::array();
      for (const Tool& tool : tools) items.push_back(tool_json(tool));
      return call.print({{"items", std::move(items)}});
    }
    Table table({"POSITION", "NAME", "DESCRIPTION", "INPUT SCHEMA"});
    for (const Tool& tool : tools) {
      table.add({{std::to_string(tool.position.value_or(0))},
                 {tool.name, Tone::strong},
                 {tool.description.value_or("-")},
                 {tool.input_schema, Tone::faint}});
    }
    table.print(call.out(), call.style(), table_width(STDOUT_FILENO));
  };
}

constexpr std::array kVerbs{
    verb("set", Access::writing, declare_set, "Replace all tools of a thread",
         "tools set @last tools.json"),
    verb("list", Access::reading, declare_list_tools, "List a thread's tools by position",
         "tools list @last"),
};

}  // namespace

std::span<const Command> tools_verbs() { return kVerbs; }

}  // namespace threadstore::cli
