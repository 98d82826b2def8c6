#include "state/threads/message_checksum.h"

#include <array>
#include <boost/crc.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace threadstore::state {
namespace {

#if defined(__x86_64__)

/// Carries the register over whole blocks of 16 bytes, at least 64, by folding: the remainder of
/// 512 bits at a time is multiplied on to the next 512 without carries (Gopal et al., "Fast CRC
/// Computation Using PCLMULQDQ", Intel 2009). Every message that is read is checked; a table
/// look-up per byte would take longer than reading it.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t fold(std::uint32_t state, const char* bytes,
                                                            std::size_t size) {
  // Powers of x modulo the polynomial, bit-reflected: x^(512±32), x^(128±32), x^64, the polynomial
  // and its reciprocal.
  const __m128i by_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  const __m128i by_64 = _mm_set_epi64x(0, 0x0163cd6124);
  const __m128i polynomial = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  const __m128i low_words = _mm_setr_epi32(-1, 0, -1, 0);

  const auto load = [&](std::size_t at) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(bytes + at)));
  };
  const auto move =
      [](__m128i value, __m128i power, __m128i next) __attribute__((target("pclmul,sse4.1"))) {
    return _mm_xor_si128(next, _mm_xor_si128(_mm_clmulepi64_si128(value, power, 0x00),
                                             _mm_clmulepi64_si128(value, power, 0x11)));
  };
  __m128i a = _mm_xor_si128(load(0), _mm_cvtsi32_si128(static_cast<int>(state)));
  __m128i b = load(16);
  __m128i c = load(32);
  __m128i d = load(48);
  std::size_t at = 64;
  for (; at + 64 <= size; at += 64) {
    a = move(a, by_512, load(at));
    b = move(b, by_512, load(at + 16));
    c = move(c, by_512, load(at + 32));
    d = move(d, by_512, load(at + 48));
  }
  a = move(a, by_128, b);
  a = move(a, by_128, c);
  a = move(a, by_128, d);
  for (; at < size; at += 16) a = move(a, by_128, load(at));
  // 128 bits to 64, to 32 and, by Barrett's reduction, to the remainder.
  a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, by_128, 0x10));
  a = _mm_xor_si128(_mm_srli_si128(a, 4),
                    _mm_clmulepi64_si128(_mm_and_si128(a, low_words), by_64, 0x00));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(a, low_words), polynomial, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_words), polynomial, 0x00);
  return static_cast<std::uint32_t>(_mm_extract_epi32(_mm_xor_si128(a, quotient), 1));
}

bool can_fold() {
  static const bool can =
      __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  return can;
}

#else

std::uint32_t fold(std::uint32_t state, const char*, std::size_t) { return state; }
bool can_fold() { return false; }

#endif

/// Boost keeps its register the other way round.
std::uint32_t reflect(std::uint32_t bits) {
  bits = (bits >> 1 & 0x55555555u) | (bits & 0x55555555u) << 1;
  bits = (bits >> 2 & 0x33333333u) | (bits & 0x33333333u) << 2;
  bits = (bits >> 4 & 0x0f0f0f0fu) | (bits & 0x0f0f0f0fu) << 4;
  bits = (bits >> 8 & 0x00ff00ffu) | (bits & 0x00ff00ffu) << 8;
  return bits >> 16 | bits << 16;
}

void add(boost::crc_32_type& crc, std::string_view bytes) {
  if (bytes.size() >= 64 && can_fold()) {
    const std::size_t whole = bytes.size() - bytes.size() % 16;
    crc.reset(reflect(fold(reflect(crc.get_interim_remainder()), bytes.data(), whole)));
    bytes.remove_prefix(whole);
  }
  crc.process_bytes(bytes.data(), bytes.size());
}

void add_sized(boost::crc_32_type& crc, std::string_view bytes) {
  std::array<unsigned char, 8> length{};
  std::uint64_t rest = bytes.size();
  for (unsigned char& byte : length) {
    byte = static_cast<unsigned char>(rest & 0xff);
    rest >>= 8;
  }
  crc.process_bytes(length.data(), length.size());
  add(crc, bytes);
}

}  // namespace

std::uint32_t message_checksum(std::string_view role, std::string_view content,
                               const std::optional<std::string>& item) {
  boost::crc_32_type crc;
  add_sized(crc, role);
  add_sized(crc, content);
  crc.process_byte(item ? 1 : 0);
  if (item) add_sized(crc, *item);
  return crc.checksum();
}

}  // namespace threadstore::state
