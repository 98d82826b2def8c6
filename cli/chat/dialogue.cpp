#include "cli/chat/dialogue.h"

#include <unistd.h>

#include <cctype>

#include "cli/terminal/text.h"

namespace threadstore::cli {

Dialogue::Dialogue(Invocation& call)
    : call_(call),
      interactive_(call.interactive()),
      lines_(interactive_ ? read_lines_of_terminal(signals_)
                          : read_lines_of(STDIN_FILENO, signals_)) {}

Look Dialogue::look() const {
  return {.style = call_.style(),
          .width = interactive_ ? terminal_width(STDOUT_FILENO) : 0,
          .now = call_.now()};
}

Input Dialogue::read(const std::string& prompt) {
  out().flush();
  return lines_->read(prompt);
}

char Dialogue::choose(const std::string& question, const std::string& letters) {
  while (true) {
    const Input answer = read(question);
    if (answer.kind != Input::Kind::line) return 0;
    const std::size_t start = answer.text.find_first_not_of(' ');
    if (start == std::string::npos) return letters.front();
    const char letter =
        static_cast<char>(std::tolower(static_cast<unsigned char>(answer.text[start])));
    if (letters.find(letter) != std::string::npos) return letter;
    aside("Please answer with one of the letters: " + letters + ".");
  }
}

void Dialogue::aside(const std::string& text) {
  if (!interactive_) return call_.note(text);
  if (!call_.options().quiet) say(Tone::faint, text);
}

void Dialogue::warn(const std::string& text) {
  if (!interactive_) return call_.warn(text);
  say(Tone::warning, text);
}

void Dialogue::say(Tone tone, const std::string& text) {
  for (const std::string& line :
       wrap(escape_for_terminal(text, Lines::multiple), terminal_width(STDOUT_FILENO))) {
    out() << style().paint(tone, line) << '\n';
  }
  out().flush();
}

}  // namespace threadstore::cli
