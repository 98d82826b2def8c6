#include "exchange/claude_format.h"
#include "exchange/codex_format.h"
#include "exchange/format.h"
#include "exchange/langgraph_format.h"
#include "exchange/native_reader.h"
#include "exchange/opencode_format.h"
#include "exchange/pi_format.h"
#include "exchange/state_format.h"

namespace threadstore::exchange {

std::vector<std::unique_ptr<Format>> make_formats() {
  std::vector<std::unique_ptr<Format>> formats;
  formats.push_back(make_codex_format());
  formats.push_back(make_pi_format());
  formats.push_back(make_claude_format());
  formats.push_back(make_opencode_format());
  formats.push_back(make_langgraph_format());
  formats.push_back(make_native_format());
  formats.push_back(make_state_format());
  return formats;
}

}  // namespace threadstore::exchange
