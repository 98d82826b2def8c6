#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/exchange/import_support.h"

namespace threadstore {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImportFilesTest : public test::ImportTest {
 protected:
  Error error_of(const Path& path) {
    try {
      import({path});
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown for " << path;
    return Error(ErrorCode::io, "");
  }

  static std::string pi_session(const std::string& id) {
    return R"({"type":"session","version":3,"id":")" + id +
           R"(","timestamp":)"
           R"("2026-03-01T10:00:00.000Z","cwd":"/w"})"
           "\n"
           R"({"type":"message","id":"a1","parentId":null,"timestamp":"2026-03-01T10:00:01.000Z",)"
           R"("message":{"role":"user","content":"hi"}})"
           "\n";
  }
};

TEST_F(ImportFilesTest, AMissingPathIsNotFound) {
  EXPECT_EQ(error_of(dir_ / "nothing").code(), ErrorCode::not_found);
}

TEST_F(ImportFilesTest, AnUnknownFileSaysWhatIsKnown) {
  test::write_file(dir_ / "note.txt", "hello\n");
  const Error error = error_of(dir_ / "note.txt");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_THAT(error.what(), HasSubstr("a Codex rollout"));
}

TEST_F(ImportFilesTest, TheStoreDoesNotTakeItself) {
  EXPECT_EQ(error_of(dir_ / "state.db").code(), ErrorCode::invalid_argument);
}

TEST_F(ImportFilesTest, NothingIsTakenWhenOneOfThePathsIsWrong) {
  test::write_file(dir_ / "p.jsonl", pi_session("one"));
  EXPECT_THROW(import({dir_ / "p.jsonl", dir_ / "nothing"}), Error);
  EXPECT_EQ(store_.threads().count(), 0);
}

TEST_F(ImportFilesTest, AFolderIsWalkedAndOthersArePassedOver) {
  std::filesystem::create_directories(dir_ / "in/deep");
  test::write_file(dir_ / "in/p.data", pi_session("one"));
  test::write_file(dir_ / "in/deep/q.txt", pi_session("two"));
  test::write_file(dir_ / "in/README", "nothing of interest\n");
  test::write_file(dir_ / "in/broken.sqlite", std::string("SQLite format 3\0", 16) + "garbage");
  const ImportReport report = import({dir_ / "in"});
  EXPECT_EQ(report.files, 2);
  EXPECT_EQ(report.threads, 2);
  EXPECT_EQ(report.not_histories, 1);
  ASSERT_EQ(report.skipped_total, 1);
  EXPECT_EQ(report.skipped[0].file, dir_ / "in/broken.sqlite");
}

TEST_F(ImportFilesTest, AThreadThatIsSomebodyElsesIsLeftAlone) {
  const ThreadId id("0c0ffee0-0000-4000-8000-000000000001");
  store_.threads().create({.id = id});
  store_.messages().append(id, {.role = "user", .content = "mine"});
  const ImportReport report = import_text("p.jsonl", pi_session(id.str()));
  EXPECT_EQ(report.messages, 0);
  ASSERT_EQ(report.skipped_total, 1);
  EXPECT_THAT(report.skipped[0].why, HasSubstr("did not come from an import"));
  EXPECT_EQ(store_.messages().count(id), 1);
}

TEST_F(ImportFilesTest, BytesThatAreNoTextAreReplacedAndReported) {
  const std::string invalid =
      R"({"type":"message","id":"b1","parentId":"a1","message":{"role":"user","content":")"
      "caf\xe9 "
      R"(\ud83d"}})"
      "\n";
  const ImportReport report = import_text("p.jsonl", pi_session("one") + invalid);
  ASSERT_EQ(report.skipped_total, 1);
  EXPECT_EQ(report.skipped[0].line, 3);
  const Thread thread = store_.threads().list().items.at(0);
  EXPECT_EQ(branch(thread.id).back().content, "caf\xef\xbf\xbd \xef\xbf\xbd");
}

TEST_F(ImportFilesTest, ProgressCountsFilesBytesAndMessages) {
  test::write_file(dir_ / "p.jsonl", pi_session("one"));
  ImportProgress last;
  import_history(store_, {dir_ / "p.jsonl"},
                 {.progress = [&](const ImportProgress& progress) { last = progress; }});
  EXPECT_EQ(last.files, 1);
  EXPECT_EQ(last.files_total, 1);
  EXPECT_EQ(last.bytes, last.bytes_total);
  EXPECT_EQ(last.bytes, static_cast<std::int64_t>(pi_session("one").size()));
}

TEST_F(ImportFilesTest, ABrokenCompressedFileGivesWhatCanBeRead) {
  const Path whole = test::fixture("peers") /
                     "codex/zst/"
                     "rollout-2026-11-29T12-59-18-01a22763-708d-7762-a926-0d0e88cbc975.jsonl.zst";
  const std::string bytes = test::read_file(whole);
  const std::string cut = bytes.substr(0, bytes.size() - 100);
  const ImportReport report = import_text("cut.jsonl.zst", bytes + cut);
  EXPECT_EQ(report.threads, 1);
  ASSERT_EQ(report.skipped_total, 1);
  EXPECT_THAT(report.skipped[0].why, HasSubstr("cannot decompress"));
  test::write_file(dir_ / "nothing.jsonl.zst", cut);
  EXPECT_EQ(error_of(dir_ / "nothing.jsonl.zst").code(), ErrorCode::damaged);
}

TEST_F(ImportFilesTest, ThousandsOfMessagesGoInBatches) {
  std::string text = pi_session("one");
  for (int i = 2; i <= 3500; ++i) {
    text += R"({"type":"message","id":"a)" + std::to_string(i) + R"(","parentId":"a)" +
            std::to_string(i - 1) + R"(","message":{"role":"user","content":"m"}})" + "\n";
  }
  EXPECT_EQ(import_text("p.jsonl", text).messages, 3501);
  const Thread thread = store_.threads().list().items.at(0);
  EXPECT_EQ(branch(thread.id).size(), 3501u);
  EXPECT_EQ(import({dir_ / "p.jsonl"}).messages, 0);
}

}  // namespace
}  // namespace threadstore
