#include <algorithm>

#include "exchange/export_formats.h"
#include "exchange/html_assets.h"
#include "exchange/html_message.h"
#include "exchange/html_text.h"
#include "exchange/readable_text.h"
#include "exchange/segments.h"
#include "threadstore/version.h"

// One page: a head with the facts, the tree of branches, every segment as a section, the followed
// branch first. Nothing in it asks for anything outside: the content security policy forbids it,
// and names style and script by their hashes, so that nothing in a message can run.
namespace threadstore::exchange {
namespace {

class Page {
 public:
  Page(ExportSource& source, std::ostream& out)
      : source_(source), out_(out), segments_(segments_of(source, BranchOrder::followed_first)) {}

  void write() {
    write_head();
    const bool branches = segments_.size() > 1;
    out_ << "<body><div class=\"page" << (branches ? " with-tree" : "") << "\">\n";
    write_facts();
    if (branches) write_tree();
    out_ << "<main>\n";
    for (std::size_t i = 0; i < segments_.size(); ++i) write_segment(i);
    if (segments_.empty()) out_ << "<p class=\"empty\">No messages.</p>\n";
    out_ << "</main>\n";
    write_foot();
    out_ << "</div><script>" << html_script << "</script></body></html>\n";
  }

 private:
  std::int64_t first_id(std::size_t segment) const {
    return to_int(source_.nodes()[segments_[segment].nodes.front()].id);
  }

  void write_head() {
    out_ << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src "
            "data:; style-src '"
         << policy_hash(html_style) << "'; script-src '" << policy_hash(html_script)
         << "'; base-uri 'none'; form-action 'none'\">\n"
         << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         << "<meta name=\"referrer\" content=\"no-referrer\">\n"
         << "<link rel=\"icon\" href=\"data:,\">\n"
         << "<title>" << html_text(title_of(source_.thread())) << "</title>\n<style>" << html_style
         << "</style></head>\n";
  }

  void fact(const std::string& label, const std::string& value, bool code) {
    if (value.empty()) return;
    out_ << "<li>" << label << ' ' << (code ? "<code>" : "") << html_text(value)
         << (code ? "</code>" : "") << "</li>";
  }

  void write_facts() {
    const Thread& thread = source_.thread();
    out_ << "<header class=\"top\"><h1>" << html_text(title_of(thread))
         << "</h1><ul class=\"facts\">";
    fact("", readable_time(thread.created_at), false);
    fact("",
         std::to_string(source_.nodes().size()) +
             (source_.nodes().size() == 1 ? " message" : " messages"),
         false);
    if (segments_.size() > 1) fact("", std::to_string(branch_count()) + " branches", false);
    fact("Directory", thread.cwd, true);
    fact("Git", thread.git_branch.value_or(""), true);
    fact("Provider", thread.model_provider, true);
    if (thread.forked_from) fact("Forked from", thread.forked_from->thread_id.str(), true);
    out_ << "</ul></header>\n";
  }

  std::size_t branch_count() const {
    std::size_t count = 0;
    for (const Segment& segment : segments_) count += segment.children.empty() ? 1U : 0U;
    return count;
  }

  void write_tree() {
    out_ << "<nav class=\"tree\" aria-label=\"Branches\"><h2>Branches</h2><ol>\n";
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const Segment& segment = segments_[i];
      out_ << "<li data-segment=\"b" << first_id(i) << "\" class=\"d"
           << std::min<std::size_t>(segment.depth, 6) << (segment.on_branch ? " shown" : "")
           << "\"><a href=\"#b" << first_id(i) << "\"><span class=\"first\">"
           << html_preview(source_.peek(segment.nodes.front()))
           << "</span> <span class=\"count\" title=\"messages\">" << segment.nodes.size()
           << "</span></a></li>\n";
    }
    out_ << "</ol></nav>\n";
  }

  void write_segment(std::size_t index) {
    const Segment& segment = segments_[index];
    out_ << "<section class=\"segment\" id=\"b" << first_id(index) << '"';
    if (segment.parent) out_ << " data-parent=\"b" << first_id(*segment.parent) << '"';
    if (segment.on_branch) out_ << " data-first=\"yes\"";
    out_ << ">\n";
    const auto siblings =
        segment.parent ? segments_[*segment.parent].children : roots_of(segments_);
    if (siblings.size() > 1) write_siblings(segment, index, siblings);
    for (const std::size_t node : segment.nodes) out_ << html_of_message(source_.message(node));
    out_ << "</section>\n";
  }

  void write_siblings(const Segment& segment, std::size_t index,
                      const std::vector<std::size_t>& siblings) {
    out_ << "<p class=\"branch\">Branch";
    for (std::size_t i = 0; i < siblings.size(); ++i) {
      if (siblings[i] == index) {
        out_ << " <b>" << i + 1 << "</b>";
      } else {
        out_ << " <a href=\"#b" << first_id(siblings[i]) << "\">" << i + 1 << "</a>";
      }
    }
    if (segment.parent) {
      const auto last = to_int(source_.nodes()[segments_[*segment.parent].nodes.back()].id);
      out_ << " after <a class=\"after\" href=\"#m" << last << "\">#" << last << "</a>";
    }
    out_ << "</p>\n";
  }

  void write_foot() {
    out_ << "<footer class=\"foot\">Thread " << html_text(source_.thread().id.str())
         << ", exported by threadstore " << version() << '.';
    if (source_.redacts()) out_ << " What looks like a secret was replaced.";
    out_ << "</footer>\n";
  }

  ExportSource& source_;
  std::ostream& out_;
  std::vector<Segment> segments_;
};

}  // namespace

void write_html(ExportSource& source, std::ostream& out) { Page(source, out).write(); }

}  // namespace threadstore::exchange
