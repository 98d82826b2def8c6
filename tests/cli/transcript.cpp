#include "tests/cli/transcript.h"

#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>

#include "tests/support/temp_dir.h"

namespace threadstore::test {
namespace {

namespace fs = std::filesystem;

std::string in_words(std::string text, const std::string& pattern, const std::string& words) {
  return std::regex_replace(text, std::regex(pattern), words);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
}

/// Gives each UUID a number, in the order in which they appear over the whole transcript.
class Ids {
 public:
  std::string replaced_in(std::string text) {
    static const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}");
    for (std::smatch found; std::regex_search(text, found, uuid);) {
      const std::string id = found.str();
      const auto [known, added] = numbers_.try_emplace(id, numbers_.size() + 1);
      replace_all(text, id, "<id" + std::to_string(known->second) + ">");
    }
    for (const auto& [id, number] : numbers_) {
      replace_all(text, id.substr(id.size() - 8), "<id" + std::to_string(number) + "…>");
    }
    return text;
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

std::string without_what_changes(std::string text, const fs::path& directory, Ids& ids) {
  replace_all(text, directory.string(), "<dir>");
  text = ids.replaced_in(std::move(text));
  text = in_words(text, R"re(("[a-z_]*(?:_at|since|timestamp)":)[0-9]{9,})re", "$1<time>");
  text = in_words(text, R"re(\b[0-9]{2}:[0-9]{2}\b)re", "HH:MM");
  text = in_words(text, R"re(("[a-z_]*_ms":)[0-9]+)re", "$1<ms>");
  text = in_words(text, R"re(\b[0-9]+\.[0-9] s\b)re", "N.N s");
  text = in_words(text, R"re(("pid":)[0-9]+)re", "$1<pid>");
  text = in_words(text, R"re(("next":|--after )["'][^"']+["'])re", "$1<cursor>");
  return in_words(text, R"re(([a-z]+_bytes"?[: ]+)[0-9]+)re", "$1<bytes>");
}

/// Ends with a newline unless it is empty; where the program printed none, that is said.
std::string as_lines(const std::string& text, const std::string& prefix) {
  std::string result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) result += prefix + line + '\n';
  if (!text.empty() && text.back() != '\n') result += "\\ no newline at the end\n";
  return result;
}

}  // namespace

Transcript Transcript::read(const fs::path& file) {
  Transcript transcript;
  transcript.text_ = read_file(file);
  std::istringstream in(transcript.text_);
  std::string comments;
  bool in_output = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("$ ", 0) == 0) {
      transcript.steps_.push_back({comments, line.substr(2)});
      comments.clear();
      in_output = true;
    } else if (line.rfind("## ", 0) == 0 || !in_output) {
      comments += line + '\n';
      in_output = false;
    }
  }
  transcript.ending_ = comments;
  return transcript;
}

std::string Transcript::run(const fs::path& program) const {
  TempDir directory;
  for (const char* name : {"bin", "work", "out"}) fs::create_directory(directory / name);
  fs::create_symlink(program, directory / "bin" / "threadstore");
  std::string script = "cd " + (directory / "work").string() + "\n";
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const std::string base = (directory / "out" / std::to_string(i)).string();
    script += "{ " + steps_[i].command + "\n} >" + base + ".out 2>" + base + ".err </dev/null\n";
    script += "echo $? >" + base + ".code\n";
  }
  write_file(directory / "script", script);
  const std::string command =
      "env -i HOME=" + directory.path().string() +
      " CODEWHALE_HOME=" + (directory / "home").string() + " PATH=" + (directory / "bin").string() +
      ":/usr/bin:/bin FIXTURES=" + fixture("").string() + " TZ=UTC LC_ALL=C.UTF-8 COLUMNS=100 sh " +
      (directory / "script").string();
  if (std::system(command.c_str()) != 0) return "the script did not run to its end\n";
  std::string result;
  Ids ids;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const fs::path base = directory / "out" / std::to_string(i);
    std::string output = as_lines(read_file(base.string() + ".out"), "");
    output += as_lines(read_file(base.string() + ".err"), "! ");
    const std::string code = read_file(base.string() + ".code");
    if (code != "0\n") output += "[" + code.substr(0, code.size() - 1) + "]\n";
    result += steps_[i].comments + "$ " + steps_[i].command + '\n' +
              without_what_changes(output, directory.path(), ids);
  }
  return result + ending_;
}

}  // namespace threadstore::test
