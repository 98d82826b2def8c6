#include <md4c.h>

#include <array>
#include <limits>
#include <vector>

#include "base/utf8.h"
#include "exchange/html_text.h"
#include "exchange/readable_text.h"

namespace threadstore::exchange {
namespace {

std::string_view view(const MD_CHAR* text, MD_SIZE size) { return {text, size}; }

std::string plain(const MD_ATTRIBUTE& attribute) {
  return std::string(view(attribute.text, attribute.size));
}

bool starts_with_any_case(std::string_view text, std::string_view lower_case) {
  if (text.size() < lower_case.size()) return false;
  for (std::size_t i = 0; i < lower_case.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower_case[i])
      return false;
  }
  return true;
}

bool may_be_linked(std::string_view address) {
  return starts_with_any_case(address, "https://") || starts_with_any_case(address, "http://") ||
         starts_with_any_case(address, "mailto:");
}

/// Turns the parser's calls into HTML.
class Renderer {
 public:
  explicit Renderer(bool line_breaks) : line_breaks_(line_breaks) {}

  std::string take() { return std::move(out_); }

  void enter(MD_BLOCKTYPE type, void* detail) {
    switch (static_cast<int>(type)) {
      case MD_BLOCK_OL: {
        const unsigned start = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
        out_ += start == 1 ? "<ol>" : "<ol start=\"" + std::to_string(start) + "\">";
        break;
      }
      case MD_BLOCK_LI:
        enter_item(*static_cast<MD_BLOCK_LI_DETAIL*>(detail));
        break;
      case MD_BLOCK_H:
        out_ += "<" + heading(detail) + ">";
        break;
      case MD_BLOCK_CODE:
        enter_code(*static_cast<MD_BLOCK_CODE_DETAIL*>(detail));
        break;
      case MD_BLOCK_TABLE:
        out_ += "<div class=\"wide\"><table>";
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD:
        enter_cell(type, *static_cast<MD_BLOCK_TD_DETAIL*>(detail));
        break;
      default:
        out_ += tag("<", type);
    }
  }

  void leave(MD_BLOCKTYPE type, void* detail) {
    switch (static_cast<int>(type)) {
      case MD_BLOCK_H:
        out_ += "</" + heading(detail) + ">\n";
        break;
      case MD_BLOCK_CODE:
        out_ += "</code></pre>\n";
        break;
      case MD_BLOCK_TABLE:
        out_ += "</table></div>\n";
        break;
      case MD_BLOCK_HR:
        break;
      default:
        out_ += tag("</", type);
    }
  }

  void enter(MD_SPANTYPE type, void* detail) {
    if (type == MD_SPAN_A) return open_link(plain(static_cast<MD_SPAN_A_DETAIL*>(detail)->href));
    if (type == MD_SPAN_IMG) return open_link(plain(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src));
    out_ += tag("<", type);
  }

  void leave(MD_SPANTYPE type) {
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
      out_ += linked_.back() ? "</a>" : "";
      linked_.pop_back();
      return;
    }
    out_ += tag("</", type);
  }

  void text(MD_TEXTTYPE type, std::string_view text) {
    switch (static_cast<int>(type)) {
      case MD_TEXT_NULLCHAR:
        out_ += "\xEF\xBF\xBD";
        break;
      case MD_TEXT_BR:
        out_ += "<br>\n";
        break;
      case MD_TEXT_SOFTBR:
        out_ += line_breaks_ ? "<br>\n" : "\n";
        break;
      // Entities are the parser's to recognise and the browser's to know.
      case MD_TEXT_ENTITY:
        out_ += is_control_entity(text) ? html_text(text) : std::string(text);
        break;
      default:
        out_ += html_text(text);
    }
  }

 private:
  static std::string heading(void* detail) {
    // Below the page's own headings.
    const unsigned level = static_cast<MD_BLOCK_H_DETAIL*>(detail)->level + 2;
    return "h" + std::to_string(level > 6 ? 6 : level);
  }

  /// `&#27;` would be a control character again.
  static bool is_control_entity(std::string_view text) { return text.size() > 1 && text[1] == '#'; }

  void enter_item(const MD_BLOCK_LI_DETAIL& item) {
    if (!item.is_task) {
      out_ += "<li>";
      return;
    }
    const bool done = item.task_mark == 'x' || item.task_mark == 'X';
    out_ += std::string("<li class=\"task\">") + (done ? "☑ " : "☐ ");
  }

  void enter_code(const MD_BLOCK_CODE_DETAIL& code) {
    const std::string language = plain(code.lang);
    out_ += "<pre";
    if (!language.empty()) out_ += " data-language=\"" + html_text(one_line(language, 30)) + "\"";
    out_ += "><code>";
  }

  void enter_cell(MD_BLOCKTYPE type, const MD_BLOCK_TD_DETAIL& cell) {
    out_ += type == MD_BLOCK_TH ? "<th" : "<td";
    if (cell.align == MD_ALIGN_RIGHT) out_ += " class=\"right\"";
    if (cell.align == MD_ALIGN_CENTER) out_ += " class=\"center\"";
    out_ += '>';
  }

  void open_link(const std::string& address) {
    linked_.push_back(may_be_linked(address));
    if (!linked_.back()) return;
    out_ += "<a href=\"" + html_text(address) + "\" rel=\"noopener noreferrer\" target=\"_blank\">";
  }

  static std::string tag(const char* bracket, MD_BLOCKTYPE type) {
    const auto name = [&]() -> std::string {
      switch (static_cast<int>(type)) {
        case MD_BLOCK_QUOTE:
          return "blockquote";
        case MD_BLOCK_UL:
          return "ul";
        case MD_BLOCK_OL:
          return "ol";
        case MD_BLOCK_LI:
          return "li";
        case MD_BLOCK_HR:
          return "hr";
        case MD_BLOCK_P:
          return "p";
        case MD_BLOCK_THEAD:
          return "thead";
        case MD_BLOCK_TBODY:
          return "tbody";
        case MD_BLOCK_TR:
          return "tr";
        case MD_BLOCK_TH:
          return "th";
        case MD_BLOCK_TD:
          return "td";
        default:
          return "";
      }
    }();
    return name.empty() ? "" : bracket + name + (bracket[1] == '/' ? ">\n" : ">");
  }

  static std::string tag(const char* bracket, MD_SPANTYPE type) {
    switch (static_cast<int>(type)) {
      case MD_SPAN_EM:
        return std::string(bracket) + "em>";
      case MD_SPAN_STRONG:
        return std::string(bracket) + "strong>";
      case MD_SPAN_CODE:
        return std::string(bracket) + "code>";
      case MD_SPAN_DEL:
        return std::string(bracket) + "del>";
      default:
        return "";
    }
  }

  const bool line_breaks_;
  std::string out_;
  std::vector<bool> linked_;
};

/// The parser calls back through C: nothing may be thrown through it but what stops it anyway.
template <class Body>
int called(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return -1;
  }
}

Renderer& renderer(void* user) { return *static_cast<Renderer*>(user); }

}  // namespace

std::string html_of_markdown(std::string_view text, bool line_breaks) {
  Renderer target(line_breaks);
  MD_PARSER parser{};
  parser.flags = MD_FLAG_NOHTML | MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_TABLES |
                 MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_NOINDENTEDCODEBLOCKS;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
    return called([&] { renderer(user).enter(type, detail); });
  };
  parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
    return called([&] { renderer(user).leave(type, detail); });
  };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) {
    return called([&] { renderer(user).enter(type, detail); });
  };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* user) {
    return called([&] { renderer(user).leave(type); });
  };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* part, MD_SIZE size, void* user) {
    return called([&] { renderer(user).text(type, view(part, size)); });
  };
  const std::string given = visible(text);
  constexpr std::size_t largest = std::size_t{8} << 20U;
  const bool parsed =
      given.size() <= largest &&
      md_parse(given.data(), static_cast<MD_SIZE>(given.size()), &parser, &target) == 0;
  return parsed ? target.take() : "<pre><code>" + html_text(given) + "</code></pre>\n";
}

}  // namespace threadstore::exchange
