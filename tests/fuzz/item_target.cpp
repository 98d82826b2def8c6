// Any bytes as a message's content and item: stored and given back byte for byte, or refused.
#include "base/json.h"
#include "base/utf8.h"
#include "tests/fuzz/fuzz_target.h"
#include "threadstore/error.h"
#include "threadstore/state_store.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace threadstore;  // NOLINT(google-build-using-namespace): one function
  static const StateStore store = StateStore::in_memory();
  static const ThreadId thread = store.threads().create({}).thread.id;
  const std::string text = test::text_of(data, size);
  const bool fits = !base::find_invalid_utf8(text) && !base::find_json_fault(text);
  try {
    const MessageId id =
        store.messages().append(thread, {.role = "tool", .content = text, .item = text}).id;
    const Message stored = store.messages().get(thread, id);
    test::expect(stored.content == text && stored.item == text, "the message has changed");
    test::expect(!stored.checksum_mismatch && !stored.item_damaged,
                 "a stored message is called damaged");
    test::expect(fits, "what is no JSON was stored");
  } catch (const Error& error) {
    test::expect(error.code() == ErrorCode::invalid_argument, "refused with another code");
    test::expect(!fits, "what is JSON was refused");
  }
  return 0;
}
