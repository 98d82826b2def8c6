// Any text as THREAD on the command line: a thread that it may mean, or a clear refusal. What is
// deleted takes only a full id or an exact name.
#include "cli/resolve/thread_ref.h"
#include "tests/fuzz/fuzz_target.h"
#include "threadstore/error.h"
#include "threadstore/state_store.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace threadstore;  // NOLINT(google-build-using-namespace): one function
  static const StateStore store = [] {
    StateStore made = StateStore::in_memory();
    const char* const ids[] = {"0195c0de-0000-7000-8000-000000000001",
                               "0195c0de-0000-7000-8000-000000000002", "%_", "@last", "../x"};
    for (const char* id : ids) made.threads().create({.id = ThreadId(id), .name = "Parser Ä"});
    return made;
  }();
  const std::string given = test::text_of(data, size);
  const auto refused = [](const Error& error) {
    test::expect(
        error.code() == ErrorCode::not_found || error.code() == ErrorCode::invalid_argument,
        "a thread was refused with another code");
  };
  try {
    const Thread found = cli::find_thread(store, given);
    const std::string& id = found.id.str();
    test::expect(given == id || given == "@last" || id.starts_with(given) || id.ends_with(given) ||
                     given.size() >= found.name->size(),
                 "a thread was found that the text does not mean");
  } catch (const Error& error) {
    refused(error);
  }
  try {
    const Thread found = cli::find_thread_to_delete(store, given);
    test::expect(found.id.str() == given || found.name == given, "a part of an id deletes");
  } catch (const Error& error) {
    refused(error);
  }
  return 0;
}
