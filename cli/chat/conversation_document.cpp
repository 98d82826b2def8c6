#include "cli/chat/conversation_document.h"

#include <sstream>

#include "cli/output/json.h"
#include "cli/output/thread_json.h"

namespace threadstore::cli {

std::string conversation_document(const Conversation& conversation) {
  Json messages = Json::array();
  for (const Message& message : conversation.messages) {
    Json item;
    if (message.item) item = message.item_damaged ? Json(*message.item) : embedded(*message.item);
    messages.push_back(
        {{"role", message.role}, {"content", message.content}, {"item", std::move(item)}});
  }
  std::ostringstream out;
  write_json(out, Json{{"thread", thread_json(conversation.thread)}, {"messages", messages}});
  out << '\n';
  return out.str();
}

}  // namespace threadstore::cli
