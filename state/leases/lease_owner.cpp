#include "state/leases/lease_owner.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace threadstore::state {
namespace {

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string first_line(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Field 22 of /proc/self/stat. The command in field 2 may hold spaces and brackets: count from
/// its last bracket.
std::int64_t this_process_start() {
  const std::string stat = first_line("/proc/self/stat");
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::int64_t start = 0;
  fields >> start;
  return start;
}

std::string this_terminal() {
  std::array<char, 128> name{};
  for (const int descriptor : {STDIN_FILENO, STDERR_FILENO}) {
    if (::ttyname_r(descriptor, name.data(), name.size()) == 0) return name.data();
  }
  return "";
}

}  // namespace

LeaseOwner this_process(const std::string& program) {
  return {.host = this_host(),
          .boot_id = first_line("/proc/sys/kernel/random/boot_id"),
          .pid = ::getpid(),
          .process_start = this_process_start(),
          .terminal = this_terminal(),
          .program = program};
}

nlohmann::json owner_json(const LeaseOwner& owner) {
  return {{"host", owner.host},         {"boot_id", owner.boot_id},
          {"pid", owner.pid},           {"process_start", owner.process_start},
          {"terminal", owner.terminal}, {"program", owner.program}};
}

std::string write_owner(const LeaseOwner& owner) {
  return owner_json(owner).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

LeaseOwner read_owner(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto member = [&](const char* key) {
    return json.is_object() && json.contains(key) ? json.at(key) : nlohmann::json();
  };
  const auto words = [&](const char* key) {
    const auto value = member(key);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const auto number = [&](const char* key) {
    const auto value = member(key);
    return value.is_number_integer() ? value.get<std::int64_t>() : 0;
  };
  return {.host = words("host"),
          .boot_id = words("boot_id"),
          .pid = number("pid"),
          .process_start = number("process_start"),
          .terminal = words("terminal"),
          .program = words("program")};
}

std::string describe_owner(const LeaseOwner& owner) {
  std::string text = owner.program.empty() ? "a program" : owner.program;
  text += " (process " + std::to_string(owner.pid);
  if (!owner.terminal.empty()) text += " on " + owner.terminal;
  if (!owner.host.empty() && owner.host != this_host()) text += ", host " + owner.host;
  return text + ")";
}

}  // namespace threadstore::state
