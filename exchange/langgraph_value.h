#pragma once

#include <optional>
#include <string>

#include "exchange/json_text.h"

namespace threadstore::exchange {

/// A value that LangGraph serialised, as JSON text. `type` names its serializer: "json" is taken as
/// it is, "msgpack" is converted (extension types become {"ext","value"} where they hold msgpack
/// themselves, else {"ext","hex"}). Nothing for other types, encrypted ones among them, and for
/// what is broken.
std::optional<std::string> langgraph_json(const std::string& type, const std::string& bytes);

/// A LangChain message in any of its serialised forms.
struct LangchainMessage {
  std::string role{};
  std::string content{};
};
std::optional<LangchainMessage> read_langchain_message(JsonText value);

}  // namespace threadstore::exchange
