// One process of a test with several: `process_actor COMMAND DATABASE-OR-FILE ARGUMENT…`.
//
// It prepares, says "ready" and waits for a line before it works. What it says after a durable call
// is an acknowledgement: the line is written only when the call has returned. Commands that go on
// for ever end at the next line that they read. A library error is said as "error CODE: message",
// and the exit code is then 3.
#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "threadstore/error.h"
#include "threadstore/state_store.h"

namespace threadstore::test {
namespace {

using Arguments = std::vector<std::string>;

void say(const std::string& line) { std::cout << line << std::endl; }

void wait_for_line() {
  std::string line;
  std::getline(std::cin, line);
}

void ready_and_go() {
  say("ready");
  wait_for_line();
}

/// True when another line, or the end of the input, is there.
bool told_to_stop() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

std::string number(MessageId id) { return std::to_string(to_int(id)); }

// make DATABASE [NAME [COUNT]]: opens only after the go, and says "made ID" of a new thread with
// COUNT messages.
void make(const Arguments& arguments) {
  ready_and_go();
  auto store = StateStore::open(arguments.at(0));
  NewThread thread{.cwd = "/"};
  if (arguments.size() > 1) thread.name = arguments[1];
  const ThreadId id = store.threads().create(thread).thread.id;
  const int count = arguments.size() > 2 ? std::stoi(arguments[2]) : 0;
  for (int i = 0; i < count; ++i) {
    store.messages().append(id, {.role = "user", .content = std::to_string(i)});
  }
  say("made " + id.str());
}

// append DATABASE THREAD COUNT WORD: says "stored ID" for each message "WORD 0", "WORD 1", …
void append(const Arguments& arguments) {
  auto store = StateStore::open(arguments.at(0));
  auto messages = store.messages();
  const ThreadId thread(arguments.at(1));
  ready_and_go();
  for (int i = 0; i < std::stoi(arguments.at(2)); ++i) {
    const std::string content = arguments.at(3) + " " + std::to_string(i);
    say("stored " + number(messages.append(thread, {.role = "user", .content = content}).id));
  }
}

// append-expecting DATABASE THREAD LEAF fail|branch WORD: says "stored ID branched|straight".
void append_expecting(const Arguments& arguments) {
  auto store = StateStore::open(arguments.at(0));
  const ExpectedLeaf seen{static_cast<MessageId>(std::stoll(arguments.at(2)))};
  const auto on_conflict = arguments.at(3) == "branch" ? OnConflict::branch : OnConflict::fail;
  ready_and_go();
  try {
    const Appended stored = store.messages().append(
        ThreadId(arguments.at(1)), {.role = "user", .content = arguments.at(4)},
        {.expected_leaf = seen, .on_conflict = on_conflict});
    say("stored " + number(stored.id) + (stored.branched ? " branched" : " straight"));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::conflict) throw;
    say("conflict");
  }
}

// write DATABASE OWN SHARED WORD: until killed, writes to both threads and renames the first. Says
// "own ID CONTENT", "shared ID CONTENT" and "named NAME".
void write(const Arguments& arguments) {
  auto store = StateStore::open(arguments.at(0));
  const ThreadId own(arguments.at(1));
  const ThreadId shared(arguments.at(2));
  ready_and_go();
  for (int i = 0;; ++i) {
    const std::string word = arguments.at(3) + "-" + std::to_string(i);
    const NewMessage message{.role = "user", .content = word};
    say("own " + number(store.messages().append(own, message).id) + " " + word);
    say("shared " + number(store.messages().append(shared, message).id) + " " + word);
    store.threads().rename(own, word);
    say("named " + word);
  }
}

// keep-appending DATABASE THREAD: until told to stop; says "first" after the first message, and at
// the end "count N" and "longest MILLISECONDS".
void keep_appending(const Arguments& arguments) {
  using Clock = std::chrono::steady_clock;
  auto store = StateStore::open(arguments.at(0));
  auto messages = store.messages();
  const ThreadId thread(arguments.at(1));
  const NewMessage message{.role = "user", .content = std::string(1024, 'x')};
  ready_and_go();
  std::int64_t count = 0;
  Clock::duration longest{};
  while (!told_to_stop()) {
    const auto start = Clock::now();
    messages.append(thread, message);
    longest = std::max(longest, Clock::now() - start);
    if (++count == 1) say("first");
  }
  using std::chrono::milliseconds;
  say("count " + std::to_string(count));
  say("longest " + std::to_string(std::chrono::duration_cast<milliseconds>(longest).count()));
}

// keep-reading DATABASE THREAD: one snapshot after the other until told to stop; says "count N".
void keep_reading(const Arguments& arguments) {
  auto store = StateStore::open(arguments.at(0), {.mode = OpenMode::read_only});
  const ThreadId thread(arguments.at(1));
  ready_and_go();
  std::int64_t count = 0;
  for (; !told_to_stop(); ++count) store.messages().list(thread);
  say("count " + std::to_string(count));
}

// remove DATABASE THREAD: says "batch DONE" after each batch, and "removed" at the end.
void remove(const Arguments& arguments) {
  auto store = StateStore::open(arguments.at(0));
  ready_and_go();
  store.threads().remove(ThreadId(arguments.at(1)), [](std::int64_t done, std::int64_t) {
    say("batch " + std::to_string(done));
  });
  say("removed");
}

// watch DATABASE: says "message ID CONTENT" for what others commit, until told to stop.
void watch(const Arguments& arguments) {
  auto store = StateStore::open(arguments.at(0), {.mode = OpenMode::read_only});
  MessageId seen = store.messages().newest_id();
  ready_and_go();
  while (!told_to_stop()) {
    // Marked before looking, so that what is committed after the look ends the wait.
    const std::int64_t mark = store.change_mark();
    for (const Message& message : store.messages().since({}, seen)) {
      say("message " + number(message.id) + " " + message.content);
      seen = message.id;
    }
    store.wait_for_change(mark, std::chrono::milliseconds(200));
  }
}

// hold-write DATABASE: another program's write transaction that stays open until told to stop.
void hold_write(const Arguments& arguments) {
  sqlite3* database = nullptr;
  if (sqlite3_open(arguments.at(0).c_str(), &database) != SQLITE_OK ||
      sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(database));
  }
  ready_and_go();
  sqlite3_close(database);
}

int open_for_lock(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) throw std::runtime_error("cannot open " + file);
  return descriptor;
}

// hold-flock FILE, hold-fcntl FILE: another program's lock of either family, until told to stop.
void hold_flock(const Arguments& arguments) {
  if (::flock(open_for_lock(arguments.at(0)), LOCK_EX | LOCK_NB) != 0) {
    throw std::runtime_error("the file is locked already");
  }
  ready_and_go();
}

void hold_fcntl(const Arguments& arguments) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(open_for_lock(arguments.at(0)), F_SETLK, &whole) != 0) {
    throw std::runtime_error("the file is locked already");
  }
  ready_and_go();
}

const std::map<std::string, std::function<void(const Arguments&)>> commands{
    {"make", make},
    {"append", append},
    {"append-expecting", append_expecting},
    {"write", write},
    {"keep-appending", keep_appending},
    {"keep-reading", keep_reading},
    {"remove", remove},
    {"watch", watch},
    {"hold-write", hold_write},
    {"hold-flock", hold_flock},
    {"hold-fcntl", hold_fcntl},
};

}  // namespace
}  // namespace threadstore::test

int main(int argc, char** argv) {
  try {
    threadstore::test::commands.at(argv[1])({argv + 2, argv + argc});
    return 0;
  } catch (const threadstore::Error& error) {
    threadstore::test::say("error " + std::string(to_string(error.code())) + ": " + error.what());
  } catch (const std::exception& error) {
    threadstore::test::say(std::string("failed: ") + error.what());
  }
  return 3;
}
