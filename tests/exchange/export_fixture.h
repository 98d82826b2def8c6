#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/opened_store.h"
#include "tests/support/temp_dir.h"
#include "threadstore/export.h"

namespace threadstore::test {

/// A store with a clock that stands at 2027-01-15, and short words for filling it.
class ExportFixture : public ::testing::Test {
 protected:
  ThreadId thread(const std::string& id, NewThread wanted = {}) {
    wanted.id = ThreadId(id);
    if (wanted.cwd.empty()) wanted.cwd = "/home/ada/demo";
    return store_.threads().create(wanted).thread.id;
  }

  MessageId say(const ThreadId& thread, const std::string& role, const std::string& content,
                std::optional<std::string> item = {}) {
    return store_.messages()
        .append(thread, {.role = role, .content = content, .item = std::move(item)})
        .id;
  }

  MessageId branch(const ThreadId& thread, MessageId parent, const std::string& role,
                   const std::string& content) {
    return store_.messages().branch_at(thread, parent, {.role = role, .content = content}).id;
  }

  std::string exported(const ThreadId& thread, ExportOptions options) {
    std::ostringstream out;
    last_ = export_thread(store_, thread, out, options);
    return out.str();
  }

  ManualClock clock_{1'800'000'000'000};
  StateStore store_ = StateStore::in_memory({.clock = clock_.clock()});
  Exported last_{};
};

}  // namespace threadstore::test
