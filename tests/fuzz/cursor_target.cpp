// Any text as the cursor of every list: a page or `invalid_argument`.
#include "tests/fuzz/fuzz_target.h"
#include "threadstore/error.h"
#include "threadstore/runs.h"
#include "threadstore/state_store.h"

namespace threadstore::test {
namespace {

template <class List>
void page_or_refusal(List&& list) {
  try {
    list();
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::invalid_argument, "a cursor was refused with another code");
  }
}

}  // namespace
}  // namespace threadstore::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace threadstore;  // NOLINT(google-build-using-namespace): one function
  static const StateStore store = StateStore::in_memory();
  static const ThreadId thread = store.threads().create({}).thread.id;
  const std::string after = test::text_of(data, size);
  test::page_or_refusal([&] { store.threads().list({.after = after}); });
  test::page_or_refusal([&] { store.jobs().list({.after = after}); });
  test::page_or_refusal([&] { store.goals().list({.after = after}); });
  test::page_or_refusal([&] { store.checkpoints().list(thread, {.after = after}); });
  test::page_or_refusal([&] { store.workflows().list({.after = after}); });
  test::page_or_refusal([&] { store.runs("fuzz").list({.after = after}); });
  return 0;
}
