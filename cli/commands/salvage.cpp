#include <functional>
#include <memory>

#include "cli/app/exit_code.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/commands.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string source;
  std::string destination;
};

Json salvage_json(const Salvage& done, const std::string& destination) {
  Json tables = Json::array();
  for (const SalvagedTable& table : done.tables) {
    tables.push_back({{"name", table.name}, {"rows", table.rows}, {"lost", table.lost}});
  }
  Json placeholders = Json::array();
  for (const ThreadId& id : done.placeholders) placeholders.push_back(id.str());
  return {{"destination", destination},
          {"complete", done.complete()},
          {"tables", std::move(tables)},
          {"placeholders", std::move(placeholders)}};
}

void print_salvage(Invocation& call, const Salvage& done) {
  for (const SalvagedTable& table : done.tables) {
    if (table.rows == 0 && table.lost.empty()) continue;
    call.out() << pad_to_width(table.name, 22) << table.rows
               << (table.rows == 1 ? " row\n" : " rows\n");
    for (const std::string& lost : table.lost) {
      call.out() << "  " << call.style().paint(Tone::bad, "lost") << " "
                 << escape_for_terminal(lost) << '\n';
    }
  }
  for (const ThreadId& id : done.placeholders) {
    call.out() << "the record of thread " << escape_for_terminal(id.str())
               << " was lost; its messages are under the name 'salvaged "
               << escape_for_terminal(id.str()) << "'\n";
  }
}

}  // namespace

Action declare_salvage(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  syntax.add_option("source", options->source, "The damaged database; it is not written to")
      ->type_name("SRC")
      ->required();
  syntax.add_option("destination", options->destination, "The new database; it must not exist")
      ->type_name("DEST")
      ->required();
  return [options](Invocation& call) {
    Salvage done;
    {
      ProgressBar progress("salvaging", call.options().quiet);
      done = salvage(options->source, options->destination, std::ref(progress));
    }
    if (!done.complete()) call.set_exit_code(exit_damaged);
    if (call.json()) return call.print(salvage_json(done, options->destination));
    print_salvage(call, done);
  };
}

}  // namespace threadstore::cli
