#include "base/case_fold.h"

#include <locale.h>
#include <wctype.h>

#include "base/utf8.h"

namespace threadstore::base {
namespace {

char32_t fold_ascii(char32_t c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

char32_t fold(char32_t c) {
  if (c < 0x80) return fold_ascii(c);
  // The Turkish i with and without dot have no simple folding: they stay themselves.
  if (c == 0x130 || c == 0x131) return c;
  // Made once and never freed. Part of glibc; where it is missing, only ASCII folds.
  static const locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (unicode == nullptr) return c;
  // Through upper case, since several lower-case letters may share one ("ς" and "σ").
  const wint_t upper = ::towupper_l(static_cast<wint_t>(c), unicode);
  return static_cast<char32_t>(::towlower_l(upper, unicode));
}

void append_utf8(std::string& text, char32_t c) {
  const auto byte = [](char32_t bits) {
    return static_cast<char>(static_cast<unsigned char>(bits));
  };
  if (c < 0x80) {
    text += byte(c);
  } else if (c < 0x800) {
    text += byte(0xC0 | c >> 6);
    text += byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    text += byte(0xE0 | c >> 12);
    text += byte(0x80 | (c >> 6 & 0x3F));
    text += byte(0x80 | (c & 0x3F));
  } else {
    text += byte(0xF0 | c >> 18);
    text += byte(0x80 | (c >> 12 & 0x3F));
    text += byte(0x80 | (c >> 6 & 0x3F));
    text += byte(0x80 | (c & 0x3F));
  }
}

}  // namespace

std::string fold_case(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (point.valid) {
      append_utf8(folded, fold(point.value));
    } else {
      folded.append(text.substr(at, point.length));
    }
    at += point.length;
  }
  return folded;
}

std::uint32_t hash_folded(std::string_view text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a over code points
  const auto add = [&](char32_t c) { hash = (hash ^ c) * 16777619U; };
  for (std::size_t at = 0; at < text.size();) {
    if (const auto byte = static_cast<unsigned char>(text[at]); byte < 0x80) {
      add(fold_ascii(byte));
      ++at;
      continue;
    }
    const CodePoint point = decode_utf8(text, at);
    add(point.valid ? fold(point.value) : 0xFFFD);
    at += point.length;
  }
  return hash;
}

}  // namespace threadstore::base
