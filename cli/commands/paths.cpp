#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "cli/app/invocation.h"
#include "cli/commands/commands.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {

Action declare_paths(Syntax&) {
  return [](Invocation& call) {
    const std::string database = call.database().string();
    const std::string home = call.options().store_home().string();
    const std::array<std::pair<std::string_view, std::string>, 6> paths{{
        {"home", home},
        {"database", database},
        {"index", (std::filesystem::path(home) / "session_index.jsonl").string()},
        {"gate", database + ".gate"},
        {"leases", database + ".leases"},
        {"search", (call.database().parent_path() / "search.db").string()},
    }};
    if (call.json()) {
      Json document;
      for (const auto& [name, path] : paths) document[std::string(name)] = path;
      return call.print(document);
    }
    for (const auto& [name, path] : paths) {
      call.out() << pad_to_width(name, 10) << escape_for_terminal(path) << '\n';
    }
  };
}

}  // namespace threadstore::cli
