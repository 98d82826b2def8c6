#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "exchange/html_text.h"
#include "tests/exchange/export_fixture.h"

namespace threadstore::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExportHtmlTest : public ExportFixture {
 protected:
  std::string page(const ThreadId& thread) {
    return exported(thread, {.format = ExportFormat::html});
  }
};

TEST_F(ExportHtmlTest, WhatIsSaidIsText) {
  const ThreadId id = thread("t1", {.name = "<b>&\"name\"</b>"});
  const std::string evil = "<script>alert(1)</script><img src=x onerror=alert(1)>";
  say(id, "user", evil);
  say(id, "assistant",
      "`" + evil + "`\n\n```" + "\"><script>\n" + evil + "\n```\n\n" +
          "[x](javascript:alert(1)) ![y](https://example.org/y.png \"" + evil + "\")");
  say(id, "tool", evil,
      R"({"type":"function_call_output","call_id":"c","output":")" +
          std::string("<script>alert(2)<\\/script>") + R"("})");
  say(id, "assistant", "",
      R"({"type":"function_call","name":"<script>","call_id":"c",)"
      R"("arguments":"{\"<script>\":\"</script>\"}"})");
  say(id, "<script>", evil);
  say(id, "user", "x",
      R"([{"type":"input_image","image_url":"https://example.org/x.png\" onload=\"a"},
                          {"type":"input_image","image_url":"data:image/svg+xml;base64,AAAA"}])");
  const std::string html = page(id);
  std::size_t scripts = 0;
  for (std::size_t at = 0; (at = html.find("<script", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 1) << "only our own";
  EXPECT_THAT(html, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(html, Not(HasSubstr("javascript:")));
  EXPECT_THAT(html, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(html, Not(HasSubstr("svg+xml;base64")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("<title>&lt;b&gt;&amp;&quot;name&quot;&lt;/b&gt;</title>"));
}

TEST_F(ExportHtmlTest, ControlCharactersAreSeenAndNotObeyed) {
  const ThreadId id = thread("t1");
  say(id, "user", std::string("a\0b\x1b[31mc\x7f \xC2\x9B", 13));
  say(id, "assistant", "x &#27; &#x1b; &amp; &copy; \x07");
  const std::string html = page(id);
  EXPECT_THAT(html, HasSubstr("a␀b␛[31mc␡ \xEF\xBF\xBD"));
  EXPECT_THAT(html, Not(HasSubstr("&#27;")));
  for (const char c : html)
    EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 32);
}

TEST_F(ExportHtmlTest, NothingIsLoadedFromAnywhere) {
  const ThreadId id = thread("t1");
  say(id, "assistant", "![pic](https://example.org/p.png) and <https://example.org/>");
  const std::string html = page(id);
  EXPECT_THAT(html, HasSubstr("default-src 'none'; img-src data:; style-src 'sha256-"));
  for (const char* loading : {"<img", "<iframe", "<object", "@import", "url(", " src=", "<base"}) {
    EXPECT_THAT(html, Not(HasSubstr(loading)));
  }
  EXPECT_THAT(html, HasSubstr("<a href=\"https://example.org/p.png\" rel=\"noopener noreferrer\""));
}

TEST_F(ExportHtmlTest, MarkdownBecomesMarkup) {
  EXPECT_EQ(exchange::html_of_markdown("# Title\n\nsome *words* and `code`\n\n- a\n- b\n", false),
            "<h3>Title</h3>\n<p>some <em>words</em> and <code>code</code></p>\n"
            "<ul><li>a</li>\n<li>b</li>\n</ul>\n");
  EXPECT_EQ(exchange::html_of_markdown("```cpp\nint x;\n```", false),
            "<pre data-language=\"cpp\"><code>int x;\n</code></pre>\n");
  EXPECT_EQ(exchange::html_of_markdown("one\ntwo", true), "<p>one<br>\ntwo</p>\n");
}

TEST_F(ExportHtmlTest, PoliciesNameHashesAsBrowsersDo) {
  // openssl dgst -sha256 -binary | base64
  EXPECT_EQ(exchange::policy_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

/// The page in a real browser, when there is one.
class ExportHtmlInBrowserTest : public ExportHtmlTest {
 protected:
  void SetUp() override {
    const char* named = std::getenv("THREADSTORE_CHROMIUM");
    for (const std::string& candidate :
         {std::string(named ? named : ""), std::string("/usr/bin/chromium"),
          std::string("/usr/bin/chromium-browser"), std::string("/usr/bin/google-chrome")}) {
      if (!candidate.empty() && std::filesystem::exists(candidate)) chromium_ = candidate;
      if (!chromium_.empty()) return;
    }
    GTEST_SKIP() << "no Chromium here: set THREADSTORE_CHROMIUM to one to run this test";
  }

  /// The document after its scripts ran, then what the browser's console said.
  std::string dom(const std::filesystem::path& file, const std::string& fragment,
                  std::string& log) {
    const auto profile = dir_ / "profile";
    const std::string command =
        "timeout 90 '" + chromium_ +
        "' --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"
        " --no-first-run --user-data-dir='" +
        profile.string() + "' --log-net-log='" + net_log_.string() +
        "' --enable-logging=stderr --log-level=0 --virtual-time-budget=3000"
        " --dump-dom 'file://" +
        file.string() + fragment + "' 2>'" + (dir_ / "log").string() + "'";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    std::string text;
    std::array<char, 65536> piece{};
    for (std::size_t read = 0; (read = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
      text.append(piece.data(), read);
    }
    EXPECT_EQ(::pclose(pipe), 0);
    log = read_file(dir_ / "log");
    return text;
  }

  static bool shown(const std::string& dom, const std::string& segment) {
    const std::size_t at = dom.find("<section class=\"segment\" id=\"" + segment + "\"");
    EXPECT_NE(at, std::string::npos) << segment;
    return dom.substr(at, dom.find('>', at) - at).find("hidden") == std::string::npos;
  }

  TempDir dir_;
  const std::filesystem::path net_log_ = dir_ / "net-log.json";
  std::string chromium_;
};

TEST_F(ExportHtmlInBrowserTest, WhatIsSaidIsSeenAndNothingIsFetched) {
  const ThreadId id = thread("t1", {.name = "</title><script>console.error('title')</script>"});
  say(id, "user", std::string("a\0b\x1b[31mc <script>console.error('ran')</script>", 47));
  say(id, "assistant",
      "![pic](https://pictures.example/p.png) <img src=https://pictures.example/q.png "
      "onerror=console.error('ran')> <style>@import 'https://pictures.example/s.css'</style>",
      R"([{"type":"input_image","image_url":"https://pictures.example/r.png"}])");
  const auto file = dir_ / "page.html";
  export_thread(store_, id, file, {.format = ExportFormat::html});
  std::string log;
  const std::string seen = dom(file, "", log);
  EXPECT_THAT(log, Not(HasSubstr("CONSOLE")));
  EXPECT_THAT(seen, HasSubstr("a␀b␛[31mc &lt;script&gt;console.error('ran')&lt;/script&gt;"));
  EXPECT_EQ(seen.find("<script"), seen.rfind("<script")) << "only our own";
  EXPECT_THAT(seen, Not(HasSubstr("<img")));
  const std::string requests = read_file(net_log_);
  EXPECT_THAT(requests, HasSubstr("page.html")) << "the log says what was asked for";
  EXPECT_THAT(requests, Not(HasSubstr("pictures.example")));
}

TEST_F(ExportHtmlInBrowserTest, BranchesAreSwitchedAndTheConsoleIsSilent) {
  const ThreadId id = thread("t1", {.name = "Branches"});
  const MessageId first = say(id, "user", "Where to? <script>console.error('ran')</script>");
  say(id, "assistant", "To the **sea**.");            // 2
  branch(id, first, "assistant", "To the *hills*.");  // 3
  say(id, "user", "Which?");                          // 4
  branch(id, MessageId{3}, "user", "How?");           // 5, followed
  const auto file = dir_ / "page.html";
  export_thread(store_, id, file, {.format = ExportFormat::html});

  std::string log;
  const std::string start = dom(file, "", log);
  EXPECT_THAT(log, Not(HasSubstr("CONSOLE")));
  EXPECT_TRUE(shown(start, "b1"));
  EXPECT_FALSE(shown(start, "b2"));
  EXPECT_TRUE(shown(start, "b3"));
  EXPECT_FALSE(shown(start, "b4"));
  EXPECT_TRUE(shown(start, "b5"));

  const std::string other = dom(file, "#b2", log);
  EXPECT_THAT(log, Not(HasSubstr("CONSOLE")));
  EXPECT_TRUE(shown(other, "b1"));
  EXPECT_TRUE(shown(other, "b2"));
  EXPECT_FALSE(shown(other, "b3"));
  EXPECT_FALSE(shown(other, "b5"));

  const std::string message = dom(file, "#m4", log);
  EXPECT_TRUE(shown(message, "b4"));
  EXPECT_FALSE(shown(message, "b5"));
}

}  // namespace
}  // namespace threadstore::test
