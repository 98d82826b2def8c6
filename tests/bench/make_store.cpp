// make_store --threads N --messages M [--depth D] [--bytes B] FILE: makes a store to measure on.

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "tests/bench/store_maker.h"

namespace {

constexpr const char* usage =
    "usage: make_store.sh --threads N --messages M [--depth D] [--bytes B] FILE\n"
    "Makes a new store: N threads, M messages of B bytes (1024) in equal shares, each thread's "
    "active\n"
    "branch at most D deep (default: one chain a thread); further messages are further branches.\n";

std::int64_t number_of(const char* option, const char* text) {
  std::int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value < 0) {
    throw std::invalid_argument(std::string(option) + " needs a whole number, not '" + text + "'");
  }
  return value;
}

struct Order {
  threadstore::bench::StoreShape shape;
  std::filesystem::path file;
};

Order read_order(int argc, char** argv) {
  Order order;
  order.shape.messages = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) throw std::invalid_argument(word + " needs a number");
      return number_of(word.c_str(), argv[++i]);
    };
    if (word == "--threads") {
      order.shape.threads = value();
    } else if (word == "--messages") {
      order.shape.messages = value();
    } else if (word == "--depth") {
      order.shape.depth = value();
    } else if (word == "--bytes") {
      order.shape.bytes = static_cast<std::size_t>(value());
    } else if (word.starts_with("-") || !order.file.empty()) {
      throw std::invalid_argument("'" + word + "' is not understood");
    } else {
      order.file = word;
    }
  }
  if (order.file.empty()) throw std::invalid_argument("the file of the store is missing");
  if (order.shape.threads < 1) throw std::invalid_argument("--threads must be at least 1");
  if (std::filesystem::exists(order.file)) {
    throw std::invalid_argument(order.file.string() + " exists already; nothing was changed");
  }
  return order;
}

}  // namespace

int main(int argc, char** argv) {
  using threadstore::StateStore;
  if (argc == 2 && (std::string(argv[1]) == "--help" || std::string(argv[1]) == "-h")) {
    std::fputs(usage, stdout);
    return 0;
  }
  Order order;
  try {
    order = read_order(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "make_store: %s\n%s", error.what(), usage);
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    StateStore store = StateStore::open(order.file);
    threadstore::bench::fill_store(store, order.shape, [](std::int64_t done, std::int64_t total) {
      std::fprintf(stderr, "\r%lld of %lld rows", static_cast<long long>(done),
                   static_cast<long long>(total));
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "\r%40s\r", "");
    std::printf("%s: %lld threads, %lld messages, %.1f s\n", order.file.c_str(),
                static_cast<long long>(order.shape.threads),
                static_cast<long long>(order.shape.messages), took.count());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_store: %s\n", error.what());
    return 1;
  }
}
