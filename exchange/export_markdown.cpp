#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "exchange/export_formats.h"
#include "exchange/message_parts.h"
#include "exchange/readable_text.h"
#include "exchange/segments.h"

namespace threadstore::exchange {
namespace {

/// A fence that no line of the text can close.
std::string fence_for(std::string_view text) {
  std::size_t longest = 2, current = 0;
  for (const char c : text) {
    current = c == '`' ? current + 1 : 0;
    longest = std::max(longest, current);
  }
  return std::string(longest + 1, '`');
}

std::string inline_code(std::string_view text) {
  const std::string fence = text.find('`') == std::string_view::npos ? "`" : fence_for(text);
  const std::string space = text.starts_with('`') || text.ends_with('`') ? " " : "";
  return fence + space + std::string(text) + space + fence;
}

void write_block(std::ostream& out, const std::string& text, const char* language = "") {
  const std::string shown = visible(text);
  const std::string fence = fence_for(shown);
  out << fence << language << '\n'
      << shown << (shown.ends_with('\n') ? "" : "\n") << fence << "\n\n";
}

void write_quote(std::ostream& out, const std::string& label, const std::string& text) {
  out << "> *" << label << "*\n>\n";
  const std::string shown = visible(text);
  for (std::size_t begin = 0; begin <= shown.size();) {
    const std::size_t end = std::min(shown.find('\n', begin), shown.size());
    out << (end == begin ? ">" : "> ") << shown.substr(begin, end - begin) << '\n';
    begin = end + 1;
  }
  out << '\n';
}

/// JSON over several lines where that is easier to read.
std::string indented(const std::string& json) {
  constexpr std::size_t largest = std::size_t{1} << 20U;
  if (json.size() > largest || base::find_json_fault(json)) return json;
  const auto value = nlohmann::ordered_json::parse(json, nullptr, false);
  if (!value.is_structured()) return json;
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

class Writer {
 public:
  Writer(ExportSource& source, std::ostream& out)
      : source_(source), out_(out), segments_(segments_of(source, BranchOrder::followed_first)) {}

  void write() {
    write_head();
    for (const Segment& segment : segments_) {
      if (segment.on_branch) write_segment(segment);
    }
    if (!source_.options().all_branches) return;
    for (const Segment& segment : segments_) {
      const bool ends_aside = !segment.on_branch || !source_.on_branch()[segment.nodes.back()];
      if (ends_aside) write_aside(segment);
    }
  }

 private:
  const Segment& segment_of(std::size_t index) const { return segments_[index]; }
  std::int64_t id_of(std::size_t node) const { return to_int(source_.nodes()[node].id); }

  void write_head() {
    const Thread& thread = source_.thread();
    out_ << "# " << title_of(thread) << "\n\n"
         << "- Thread " << inline_code(thread.id.str()) << ", " << readable_time(thread.created_at)
         << " to " << readable_time(thread.updated_at) << '\n';
    if (!thread.cwd.empty()) out_ << "- Directory " << inline_code(visible(thread.cwd)) << '\n';
    if (!thread.model_provider.empty()) {
      out_ << "- Provider " << inline_code(visible(thread.model_provider)) << '\n';
    }
    if (thread.git_branch) {
      out_ << "- Git branch " << inline_code(visible(*thread.git_branch)) << '\n';
    }
    if (thread.forked_from) {
      out_ << "- Forked from thread " << inline_code(thread.forked_from->thread_id.str());
      if (thread.forked_from->message_id) out_ << " at #" << *thread.forked_from->message_id;
      out_ << '\n';
    }
    if (source_.nodes().empty())
      out_ << "\nNo messages.\n";
    else if (!source_.leaf())
      out_ << "\nThe thread stands before its first message.\n";
    out_ << '\n';
  }

  /// The part of a segment that the followed branch shows, then what else goes on from there.
  void write_segment(const Segment& segment) {
    std::size_t last = segment.nodes.front();
    for (const std::size_t node : segment.nodes) {
      if (!source_.on_branch()[node]) break;
      write_message(node);
      last = node;
    }
    if (last != segment.nodes.back()) {
      out_ << "> The thread was set back to #" << id_of(last) << "; more was said after it.\n\n";
    } else if (segment.children.size() > 1) {
      write_fork(segment, last);
    }
  }

  void write_fork(const Segment& segment, std::size_t last) {
    out_ << "> **" << segment.children.size() << " branches go on from #" << id_of(last) << ":**";
    const char* separator = " ";
    for (const std::size_t child : segment.children) {
      const Segment& branch = segment_of(child);
      out_ << separator << '#' << id_of(branch.nodes.front())
           << (branch.on_branch ? " (followed here)" : "");
      separator = ", ";
    }
    out_ << ".\n\n";
  }

  void write_aside(const Segment& segment) {
    std::size_t begin = 0;
    while (begin < segment.nodes.size() && source_.on_branch()[segment.nodes[begin]]) ++begin;
    out_ << "---\n\n## Another branch";
    if (begin > 0) {
      out_ << " after #" << id_of(segment.nodes[begin - 1]);
    } else if (segment.parent) {
      out_ << " after #" << id_of(segment_of(*segment.parent).nodes.back());
    } else {
      out_ << " from the beginning";
    }
    out_ << "\n\n";
    for (std::size_t i = begin; i < segment.nodes.size(); ++i) write_message(segment.nodes[i]);
    if (segment.children.size() > 1) write_fork(segment, segment.nodes.back());
  }

  void write_message(std::size_t node) {
    const Message& message = source_.message(node);
    const std::vector<Part> parts = parts_of(message);
    if (is_note(message, parts) && !message.item_damaged) return;
    out_ << "### " << role_title(message.role) << " · " << readable_time(message.created_at)
         << " · #" << message.id << "\n\n";
    if (message.checksum_mismatch)
      out_ << "> The bytes of this message are not what was stored.\n\n";
    for (const Part& part : parts) write_part(part);
  }

  void write_part(const Part& part) {
    switch (part.kind) {
      case Part::Kind::text:
        out_ << visible(part.text) << (part.text.ends_with('\n') ? "\n" : "\n\n");
        break;
      case Part::Kind::reasoning:
        write_quote(out_, "Thinking", part.text);
        break;
      case Part::Kind::summary:
        write_quote(out_, "Summary of what was before", part.text);
        break;
      case Part::Kind::image:
        if (part.text.starts_with("data:")) {
          out_ << "*(an image)*\n\n";
        } else {
          out_ << "*Image* " << inline_code(one_line(part.text, 200)) << "\n\n";
        }
        break;
      case Part::Kind::tool_call:
        out_ << "**Tool call** " << inline_code(visible(part.name)) << "\n\n";
        if (!part.text.empty()) write_arguments(part.text);
        break;
      case Part::Kind::tool_result:
        out_ << (part.is_error ? "**Error**" : "**Output**");
        if (!part.name.empty()) out_ << " of " << inline_code(visible(part.name));
        out_ << "\n\n";
        if (!part.text.empty()) write_block(out_, part.text);
        break;
      case Part::Kind::other:
        write_block(out_, indented(part.text), "json");
        break;
    }
  }

  void write_arguments(const std::string& text) {
    const bool json = text.starts_with('{') || text.starts_with('[');
    write_block(out_, json ? indented(text) : text, json ? "json" : "");
  }

  ExportSource& source_;
  std::ostream& out_;
  std::vector<Segment> segments_;
};

}  // namespace

void write_markdown(ExportSource& source, std::ostream& out) { Writer(source, out).write(); }

}  // namespace threadstore::exchange
