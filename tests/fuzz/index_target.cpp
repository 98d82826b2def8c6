// Any bytes as session_index.jsonl: look-ups agree with the reference reader, before and after an
// append and a compaction, and neither loses an entry.
#include "tests/fuzz/fuzz_target.h"
#include "tests/session_index/reference_reader.h"
#include "tests/support/recording_system.h"
#include "tests/support/temp_dir.h"
#include "threadstore/logging.h"
#include "threadstore/session_index.h"

using namespace threadstore;  // NOLINT(google-build-using-namespace): a program of one function

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool quiet = (set_log_level(LogLevel::off), true);
  static_cast<void>(quiet);
  static test::RecordingSystem no_syncs;
  const base::SystemOverride use(no_syncs);
  const test::TempDir dir;
  const std::filesystem::path file = dir / "session_index.jsonl";
  test::write_file(file, test::text_of(data, size));

  // The time of day decides about tombstones; all are young here.
  SessionIndex index(file, {.clock = [] { return UnixMillis{0}; }});
  test::expect(test::by_id(index.entries()) == test::reference_read(file), "a look-up differs");

  const IndexEntry added{.thread_id = ThreadId("added by the fuzzer"), .updated_at = 1};
  index.append(added);
  const auto expected = test::reference_read(file);
  test::expect(test::by_id(index.entries()) == expected, "a look-up after an append differs");
  test::expect(SessionIndex(file).find(added.thread_id) == added, "the append is lost");

  index.compact();
  test::expect(test::reference_read(file) == expected, "compaction changed an entry");
  test::expect(test::by_id(SessionIndex(file).entries()) == expected,
               "a look-up after the compaction differs");
  return 0;
}
