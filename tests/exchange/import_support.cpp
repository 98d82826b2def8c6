#include "tests/exchange/import_support.h"

namespace threadstore::test {

std::vector<Message> ImportTest::branch(const ThreadId& thread,
                                        std::optional<MessageId> leaf) const {
  return store_.messages().list(thread, {.leaf = leaf, .limit = 100'000}).messages;
}

std::vector<std::string> ImportTest::texts(const ThreadId& thread, const std::string& role,
                                           std::optional<MessageId> leaf) const {
  std::vector<std::string> texts;
  for (const Message& message : branch(thread, leaf)) {
    if (message.role == role && !message.content.empty()) texts.push_back(message.content);
  }
  return texts;
}

std::vector<Message> ImportTest::all(const ThreadId& thread) const {
  return store_.messages().since(thread, MessageId{0}, 1000);
}

nlohmann::json item_of(const Message& message) {
  return message.item ? nlohmann::json::parse(*message.item) : nlohmann::json();
}

nlohmann::json read_ground_truth(const std::string& folder) {
  return nlohmann::json::parse(read_file(fixture("peers") / folder / "ground_truth.json"));
}

std::vector<std::string> whys(const ImportReport& report) {
  std::vector<std::string> whys;
  for (const ImportSkip& skip : report.skipped) whys.push_back(skip.why);
  return whys;
}

}  // namespace threadstore::test
