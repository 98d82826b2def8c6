// A store with damage: the input is a list of changes (three bytes of offset, one of content) to a
// small store, and for an odd length its file is cut. Opening, listing, showing, checking and
// salvaging give an answer or an error, never a crash, and never change the file.
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/temp_dir.h"
#include "threadstore/doctor.h"
#include "threadstore/error.h"
#include "threadstore/logging.h"
#include "threadstore/maintenance.h"
#include "threadstore/state_store.h"

namespace threadstore::test {
namespace {

std::string small_store() {
  set_log_level(LogLevel::off);
  const TempDir dir;
  const std::filesystem::path file = dir / "state.db", copy = dir / "copy.db";
  const StateStore store = StateStore::open(file);
  for (const char* id : {"t1", "t2"}) {
    const ThreadId thread(id);
    store.threads().create({.id = thread, .name = std::string("name of ") + id});
    for (int i = 0; i < 30; ++i) {
      store.messages().append(thread, {.role = "user", .content = std::string(100, 'a')});
    }
    store.checkpoints().save(thread, {.id = CheckpointId("c"), .state = R"({"a":1})"});
  }
  store.backup(copy);
  return read_file(copy);
}

std::string with_changes(std::string database, const std::uint8_t* data, std::size_t size) {
  for (; size >= 4; data += 4, size -= 4) {
    const std::size_t offset = std::size_t{data[0]} << 16 | std::size_t{data[1]} << 8 | data[2];
    database[offset % database.size()] = static_cast<char>(data[3]);
  }
  if (size >= 2) database.resize((std::size_t{data[0]} << 8 | data[1]) % database.size());
  return database;
}

template <class Work>
void answer_or_error(Work&& work) {
  try {
    work();
  } catch (const Error&) {
    // Any of our errors is an answer.
  }
}

}  // namespace
}  // namespace threadstore::test

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace threadstore;  // NOLINT(google-build-using-namespace): one function
  static const std::string original = test::small_store();
  const test::TempDir dir;
  const std::filesystem::path file = dir / "state.db";
  const std::string damaged = test::with_changes(original, data, size);
  test::write_file(file, damaged);
  test::answer_or_error([&] {
    const StateStore store = StateStore::open(file, {.mode = OpenMode::read_only});
    test::answer_or_error([&] { store.check(); });
    for (const Thread& thread : store.threads().list({}).items) {
      test::answer_or_error([&] { store.messages().list(thread.id); });
      test::answer_or_error([&] { store.messages().tree(thread.id); });
      test::answer_or_error([&] { store.checkpoints().list(thread.id, {}); });
    }
  });
  test::answer_or_error([&] { salvage(file, dir / "salvaged.db"); });
  test::expect(test::read_file(file) == damaged, "reading changed the file");
  return 0;
}
