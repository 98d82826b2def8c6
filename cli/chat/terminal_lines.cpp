#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "cli/chat/line_reader.h"
#include "cli/terminal/code_point.h"
#include "cli/terminal/text.h"

namespace threadstore::cli {
namespace {

constexpr std::wstring_view paste_end = L"\x1b[201~";
constexpr std::string_view paste_on = "\x1b[?2004h";
constexpr std::string_view paste_off = "\x1b[?2004l";
constexpr wchar_t prompt_escape = L'\1';

// The line editor writes characters through the process's locale: under LANG=C it could show
// nothing but ASCII.
void make_output_utf8() {
  ::setlocale(LC_CTYPE, "");
  if (std::string_view(::nl_langinfo(CODESET)) != "UTF-8") ::setlocale(LC_CTYPE, "C.UTF-8");
}

std::wstring widen(std::string_view text) {
  std::wstring out;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    out += point.kind == CodePoint::Kind::valid ? static_cast<wchar_t>(point.value) : L'\uFFFD';
    text.remove_prefix(point.bytes);
  }
  return out;
}

void append_utf8(std::string& out, char32_t value) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80U | ((value >> shift) & 0x3FU));
  };
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xC0U | (value >> 6U));
    tail(0);
  } else if (value < 0x10000) {
    out += static_cast<char>(0xE0U | (value >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (value >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string narrow(std::wstring_view text) {
  std::string out;
  for (const wchar_t character : text) append_utf8(out, static_cast<char32_t>(character));
  return out;
}

void write_to_terminal(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

class TerminalLines : public LineReader {
 public:
  explicit TerminalLines(Signals& signals) : signals_(signals) {
    make_output_utf8();
    editor_ = ::el_init("threadstore", stdin, stdout, stderr);
    history_ = ::history_winit();
    if (editor_ == nullptr || history_ == nullptr) {
      throw std::system_error(ENOMEM, std::generic_category(), "starting the line editor");
    }
    HistEventW event{};
    ::history_w(history_, &event, H_SETSIZE, 1000);
    ::history_w(history_, &event, H_SETUNIQUE, 1);
    ::el_wset(editor_, EL_CLIENTDATA, this);
    ::el_wset(editor_, EL_EDITOR, L"emacs");
    ::el_wset(editor_, EL_HIST, history_w, history_);
    ::el_wset(editor_, EL_PROMPT_ESC, prompt_of, prompt_escape);
    ::el_wset(editor_, EL_GETCFN, next_character);
    bind_keys();
    ::el_source(editor_, nullptr);  // the user's own ~/.editrc wins
  }

  ~TerminalLines() override {
    ::history_wend(history_);
    ::el_end(editor_);
  }

  TerminalLines(const TerminalLines&) = delete;
  TerminalLines& operator=(const TerminalLines&) = delete;

  Input read(const std::string& prompt) override {
    prompt_ = widen(prompt);
    stopped_ = Input::Kind::line;
    // Before the prompt appears: the editor by itself would print it first, and a key typed in
    // between would act as if nobody edited.
    ::el_wset(editor_, EL_PREP_TERM, 1);
    write_to_terminal(paste_on);
    int count = 0;
    const wchar_t* line = ::el_wgets(editor_, &count);
    write_to_terminal(paste_off);
    if (stopped_ == Input::Kind::interrupted) write_to_terminal("^C\n");
    if (stopped_ != Input::Kind::line) return {stopped_};
    if (line == nullptr || count <= 0) {
      write_to_terminal("\n");
      return {Input::Kind::end};
    }
    std::wstring_view text(line, static_cast<std::size_t>(count));
    if (text.back() == L'\n') text.remove_suffix(1);
    return {Input::Kind::line, narrow(text)};
  }

  void remember(const std::string& line) override {
    HistEventW event{};
    ::history_w(history_, &event, H_ENTER, widen(line).c_str());
  }

 private:
  static TerminalLines& self(EditLine* editor) {
    void* data = nullptr;
    ::el_wget(editor, EL_CLIENTDATA, &data);
    return *static_cast<TerminalLines*>(data);
  }

  static wchar_t* prompt_of(EditLine* editor) { return self(editor).prompt_.data(); }

  // The editor's source of characters: one, the end (0), or a stop (-1).
  static int next_character(EditLine* editor, wchar_t* out) { return self(editor).next(out); }

  int next(wchar_t* out) {
    std::string bytes;
    while (true) {
      if (const int got = next_byte(bytes); got <= 0) return got;
      const CodePoint point = first_code_point(bytes);
      if (point.kind == CodePoint::Kind::cut) continue;
      // The byte that breaks a sequence is lost with it: it was typed, and no keyboard sends that.
      *out = point.kind == CodePoint::Kind::valid ? static_cast<wchar_t>(point.value) : L'\uFFFD';
      return 1;
    }
  }

  int next_byte(std::string& bytes) {
    while (true) {
      if (signals_.take_interrupt()) return stop(Input::Kind::interrupted);
      if (signals_.end_requested()) return stop(Input::Kind::end);
      if (signals_.take_resize()) redraw_resized();
      if (signals_.take_continue()) redraw_continued();
      std::array<pollfd, 2> waiting{pollfd{STDIN_FILENO, POLLIN, 0},
                                    pollfd{signals_.descriptor(), POLLIN, 0}};
      ::poll(waiting.data(), waiting.size(), -1);
      signals_.acknowledge();
      if (waiting[0].revents == 0) continue;  // a signal
      char byte = 0;
      const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
      if (count <= 0) return stop(Input::Kind::end);
      if (byte == '\x03') return stop(Input::Kind::interrupted);
      bytes += byte;
      return 1;
    }
  }

  int stop(Input::Kind kind) {
    stopped_ = kind;
    return -1;
  }

  // The shell printed on the screen and changed the terminal's modes: begin where the cursor is.
  void redraw_continued() {
    ::el_wset(editor_, EL_PREP_TERM, 0);
    ::el_wset(editor_, EL_PREP_TERM, 1);
    ::el_resize(editor_);
    ::el_wset(editor_, EL_REFRESH);
  }

  // The terminal has broken the line anew: go up to where it begins now, and draw it again.
  void redraw_resized() {
    const std::size_t above = rows_above_cursor(terminal_width(STDOUT_FILENO));
    std::string keys = "\r";
    if (above > 0) keys += "\x1b[" + std::to_string(above) + "A";
    write_to_terminal(keys + "\x1b[J");
    ::el_resize(editor_);
    ::el_wset(editor_, EL_REFRESH);
  }

  // A full row ends where it is: going up too far would erase what stands above.
  std::size_t rows_above_cursor(std::size_t width) const {
    const LineInfoW* line = ::el_wline(editor_);
    std::size_t rows = 0;
    std::size_t column = 0;
    const auto full_rows = [&] { return column == 0 ? 0 : (column - 1) / width; };
    for (const wchar_t character : prompt_ + std::wstring(line->buffer, line->cursor)) {
      column += columns_of(static_cast<char32_t>(character));
      if (character != L'\n') continue;
      rows += 1 + full_rows();
      column = 0;
    }
    return rows + full_rows();
  }

  void bind_keys() {
    ::el_wset(editor_, EL_ADDFN, L"insert-paste", L"Insert pasted text with its line breaks",
              insert_paste);
    ::el_wset(editor_, EL_ADDFN, L"insert-line-break", L"Insert a line break", insert_line_break);
    constexpr std::array<std::array<const wchar_t*, 2>, 12> keys{
        {{L"\\e[200~", L"insert-paste"},
         {L"\\e\\r", L"insert-line-break"},
         {L"\\e\\n", L"insert-line-break"},
         {L"^W", L"ed-delete-prev-word"},
         {L"^R", L"em-inc-search-prev"},
         {L"\\e[H", L"ed-move-to-beg"},
         {L"\\e[F", L"ed-move-to-end"},
         {L"\\e[1~", L"ed-move-to-beg"},
         {L"\\e[4~", L"ed-move-to-end"},
         {L"\\e[3~", L"ed-delete-next-char"},
         {L"\\e[1;5C", L"em-next-word"},
         {L"\\e[1;5D", L"ed-prev-word"}}};
    for (const auto& [key, function] : keys) {
      ::el_wset(editor_, EL_BIND, key, function, nullptr);
    }
  }

  static unsigned char insert_paste(EditLine* editor, wint_t) {
    std::wstring text;
    wchar_t character = 0;
    while (::el_wgetc(editor, &character) == 1) {
      text += character == L'\r' ? L'\n' : character;
      if (text.ends_with(paste_end)) {
        text.resize(text.size() - paste_end.size());
        break;
      }
    }
    while (!text.empty() && text.back() == L'\n') text.pop_back();
    if (text.empty()) return CC_NORM;
    return ::el_winsertstr(editor, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  static unsigned char insert_line_break(EditLine* editor, wint_t) {
    return ::el_winsertstr(editor, L"\n") == 0 ? CC_REFRESH : CC_ERROR;
  }

  Signals& signals_;
  EditLine* editor_ = nullptr;
  HistoryW* history_ = nullptr;
  std::wstring prompt_;
  Input::Kind stopped_ = Input::Kind::line;
};

}  // namespace

std::unique_ptr<LineReader> read_lines_of_terminal(Signals& signals) {
  return std::make_unique<TerminalLines>(signals);
}

}  // namespace threadstore::cli
