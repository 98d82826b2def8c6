#include "tests/bench/worker.h"

#include <chrono>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "tests/bench/raw_store.h"
#include "tests/bench/row.h"
#include "tests/bench/store_maker.h"

namespace threadstore::bench {
namespace {

void wait_for_go() {
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);
}

/// Appends until the time is over; prints the errors, then every latency in microseconds.
void append_for(const std::function<void()>& append, double seconds) {
  using clock = std::chrono::steady_clock;
  wait_for_go();
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  std::vector<double> latencies;
  int errors = 0;
  while (clock::now() < end) {
    try {
      latencies.push_back(seconds_of(append) * 1e6);
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      ++errors;
    }
  }
  std::cout << errors;
  for (const double latency : latencies) std::cout << ' ' << static_cast<long>(latency);
  std::cout << std::endl;
}

void append_worker(const std::vector<std::string>& words) {
  const std::filesystem::path file = words.at(2);
  const std::string thread = words.at(3);
  const double seconds = std::stod(words.at(4));
  const std::string content = made_content(1024, 1);
  if (words.at(1) == "raw") {
    RawStore raw(file);
    append_for([&] { raw.append(thread, content); }, seconds);
  } else {
    StateStore store = StateStore::open(file);
    Messages messages = store.messages();
    const ThreadId id(thread);
    append_for([&] { messages.append(id, {.role = "user", .content = content}); }, seconds);
  }
}

void open_worker(const std::vector<std::string>& words) {
  wait_for_go();
  StateStore::open(words.at(1)).threads().create({.name = "one"});
  std::cout << "ok" << std::endl;
}

/// In KiB. Not getrusage(2): its figure begins with what the starting process had.
long highest_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    long kibibytes = 0;
    if (name == "VmHWM:" && status >> kibibytes) return kibibytes;
  }
  throw std::runtime_error("the system does not tell the highest resident memory");
}

void memory_worker(const std::vector<std::string>& words) {
  wait_for_go();
  StateStore store = StateStore::open(words.at(2));
  Messages messages = store.messages();
  const ThreadId thread = made_thread(0);
  if (words.at(1) == "append") {
    const int count = std::stoi(words.at(3));
    for (int i = 0; i < count; ++i) {
      messages.append(thread, {.role = "user", .content = made_content(1024, i)});
    }
  } else {
    std::optional<MessageId> before;
    for (bool more = true; more;) {
      const BranchPage page = messages.list(thread, {.before = before, .limit = 500});
      before = page.messages.front().id;
      more = page.more;
    }
  }
  std::cout << highest_memory() << std::endl;
}

}  // namespace

int run_worker(const std::vector<std::string>& words) {
  try {
    const std::string& job = words.at(0);
    if (job == "append") {
      append_worker(words);
    } else if (job == "open") {
      open_worker(words);
    } else if (job == "memory") {
      memory_worker(words);
    } else {
      throw std::invalid_argument("no worker '" + job + "'");
    }
    return 0;
  } catch (const std::exception& error) {
    std::cout << "failed: " << error.what() << std::endl;
    return 1;
  }
}

Workers::Workers(const std::filesystem::path& self,
                 const std::vector<std::vector<std::string>>& jobs) {
  for (const auto& job : jobs) {
    std::vector<std::string> command{self.string(), "--worker"};
    command.insert(command.end(), job.begin(), job.end());
    processes_.push_back(std::make_unique<test::ChildProcess>(command));
  }
  for (const auto& process : processes_) {
    const auto line = process->read_line();
    if (line != "ready") throw std::runtime_error("a worker: " + line.value_or("ended"));
  }
}

std::vector<std::string> Workers::run() {
  for (const auto& process : processes_) process->write_line("go");
  std::vector<std::string> answers;
  for (const auto& process : processes_) {
    answers.push_back(process->read_line(std::chrono::seconds(120)).value_or(""));
    process->wait();
  }
  return answers;
}

}  // namespace threadstore::bench
