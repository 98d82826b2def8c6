#include <memory>

#include "cli/app/choices.h"
#include "cli/app/invocation.h"
#include "cli/app/syntax.h"
#include "cli/commands/append_lines.h"
#include "cli/commands/commands.h"
#include "cli/commands/thread_argument.h"
#include "cli/output/message_json.h"
#include "cli/resolve/message_ref.h"
#include "cli/resolve/text_argument.h"
#include "cli/resolve/thread_ref.h"

namespace threadstore::cli {
namespace {

struct Options {
  std::string thread, message, role, content;
  std::optional<std::string> item, expect_leaf, key, jsonl;
  std::string on_conflict = "fail";
  std::size_t batch = 1000;
};

/// The options that append and branch share.
struct MessageOptions {
  std::vector<Option*> required;
  std::vector<Option*> others;
};

MessageOptions declare_message(Syntax& syntax, Options& options) {
  Option* role =
      syntax.add_option("--role", options.role, "Who speaks: user, assistant, or any word");
  Option* content =
      syntax.add_option("--content", options.content, "What is said; - reads standard input");
  Option* item = syntax.add_option("--item", options.item,
                                   "Any JSON value kept with it; - reads standard input");
  Option* key = syntax.add_option("--key", options.key,
                                  "Idempotency key: a retry with it stores nothing twice");
  return {.required = {role->type_name("ROLE"), content->type_name("TEXT")},
          .others = {item->type_name("JSON"), key->type_name("K")}};
}

NewMessage message_from(Invocation& call, const Options& options) {
  if (options.content == "-" && options.item == "-") {
    throw Error(ErrorCode::invalid_argument,
                "--content and --item cannot both read standard input; give one as text");
  }
  NewMessage message{.role = valid_text(call, options.role, "the role"),
                     .content = text_argument(call, options.content, "the content")};
  if (options.item) message.item = text_argument(call, *options.item, "the item");
  return message;
}

AppendOptions append_options(Invocation& call, const Thread& thread, const Options& options) {
  AppendOptions result{.on_conflict =
                           options.on_conflict == "branch" ? OnConflict::branch : OnConflict::fail};
  if (options.key) result.key = valid_text(call, *options.key, "the key");
  if (options.expect_leaf) {
    result.expected_leaf =
        ExpectedLeaf{find_message_or_none(call.store(), thread, *options.expect_leaf)};
  }
  return result;
}

void print_appended(Invocation& call, const Appended& appended) {
  if (call.json()) return call.print(appended_json(appended));
  if (appended.branched) {
    call.note("stored as a branch: somebody else had written, and the active branch ends at " +
              (appended.current_leaf_id ? std::to_string(to_int(*appended.current_leaf_id))
                                        : std::string("no message")));
  }
  call.out() << to_int(appended.id) << '\n';
}

}  // namespace

Action declare_append(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  const MessageOptions single = declare_message(syntax, *options);
  auto* expect = syntax.add_option("--expect-leaf", options->expect_leaf,
                                   "Only when the current leaf is this one (an id, or none)");
  expect->type_name("MESSAGE");
  syntax
      .add_option("--on-conflict", options->on_conflict,
                  "When it is another one: fail (default), or branch off the expected one")
      ->check(one_of({"fail", "branch"}))
      ->type_name("")
      ->needs(expect);
  auto* jsonl = syntax.add_option("--jsonl", options->jsonl,
                                  "Many messages: a file, or -, of lines {\"role\",\"content\",…}");
  jsonl->type_name("FILE");
  for (Option* option : single.required) jsonl->excludes(option);
  for (Option* option : single.others) jsonl->excludes(option);
  jsonl->excludes(expect);
  syntax.add_option("--batch", options->batch, "One commit per N lines (default: 1000)")
      ->type_name("N")
      ->check(whole_number(1, 100'000))
      ->needs(jsonl);
  syntax.require(single.required, [options] { return options->jsonl.has_value(); });
  return [options](Invocation& call) {
    const Thread thread = resolve_thread(call, options->thread);
    if (options->jsonl) return append_lines(call, thread, *options->jsonl, options->batch);
    const NewMessage message = message_from(call, *options);
    print_appended(call, call.store().messages().append(thread.id, message,
                                                        append_options(call, thread, *options)));
  };
}

Action declare_branch(Syntax& syntax) {
  auto options = std::make_shared<Options>();
  add_thread(syntax, options->thread);
  add_message(syntax, options->message, "What the new message answers");
  syntax.require(declare_message(syntax, *options).required);
  return [options](Invocation& call) {
    const Thread thread = resolve_thread(call, options->thread);
    const MessageId parent = find_message(call.store(), thread, options->message);
    const NewMessage message = message_from(call, *options);
    print_appended(call, call.store().messages().branch_at(thread.id, parent, message,
                                                           append_options(call, thread, *options)));
  };
}

}  // namespace threadstore::cli
