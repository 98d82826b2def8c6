#include "tests/support/process_swarm.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace threadstore::test {

ProcessSwarm::ProcessSwarm(const std::vector<std::vector<std::string>>& commands) {
  for (const auto& command : commands) {
    processes_.push_back(std::make_unique<ChildProcess>(command));
  }
  for (const auto& process : processes_) {
    const auto line = process->read_line();
    if (line != "ready") throw std::runtime_error("not ready: " + line.value_or("(nothing)"));
  }
}

void ProcessSwarm::go() {
  for (const auto& process : processes_) process->write_line("go");
}

void ProcessSwarm::kill(int signal) {
  for (const auto& process : processes_) process->kill(signal);
}

std::vector<std::vector<std::string>> ProcessSwarm::finish() {
  std::vector<std::vector<std::string>> said;
  for (const auto& process : processes_) {
    said.push_back(read_lines(*process));
    EXPECT_EQ(process->wait(), 0) << (said.back().empty() ? "(silent)" : said.back().back());
  }
  return said;
}

std::vector<std::string> read_lines(ChildProcess& process) {
  std::vector<std::string> lines;
  while (auto line = process.read_line()) lines.push_back(std::move(*line));
  return lines;
}

}  // namespace threadstore::test
