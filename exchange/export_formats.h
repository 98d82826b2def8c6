#pragma once

#include <ostream>

#include "exchange/export_source.h"

namespace threadstore::exchange {

// One writer per format: all of the source goes to the stream, which the caller has checked.

void write_markdown(ExportSource& source, std::ostream& out);
void write_native(ExportSource& source, std::ostream& out);
void write_html(ExportSource& source, std::ostream& out);
void write_codex(ExportSource& source, std::ostream& out);
void write_pi(ExportSource& source, std::ostream& out);

}  // namespace threadstore::exchange
