#include "cli/output/warnings.h"

namespace threadstore::cli {
namespace {

void warn_that_text_lingers(Invocation& call) {
  call.warn(
      "other processes keep old pages in use: the deleted text may stay in the write-ahead log "
      "until they are done and the next change is made");
}

}  // namespace

void warn_about(Invocation& call, const RemovedThread& removed) {
  if (removed.text_may_linger) warn_that_text_lingers(call);
}

void warn_about(Invocation& call, const ClearedThread& cleared) {
  if (cleared.text_may_linger) warn_that_text_lingers(call);
}

}  // namespace threadstore::cli
