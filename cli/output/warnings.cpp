#include "cli/output/warnings.h"

namespace threadstore::cli {
namespace {

void warn_index_pending(Invocation& call) {
  call.warn(
      "the change is stored, but the session index could not be written yet; the next command that "
      "writes brings it in (`threadstore index verify` shows what is missing)");
}

void warn_text_may_linger(Invocation& call) {
  call.warn(
      "other readers keep old pages in use: the deleted text may stay in the write-ahead log until "
      "they are done and the next change is made");
}

}  // namespace

void warn_about(Invocation& call, const ThreadChange& change) {
  if (change.index_pending) warn_index_pending(call);
}

void warn_about(Invocation& call, const RemovedThread& removed) {
  if (removed.index_pending) warn_index_pending(call);
  if (removed.text_may_linger) warn_text_may_linger(call);
}

void warn_about(Invocation& call, const ClearedThread& cleared) {
  if (cleared.text_may_linger) warn_text_may_linger(call);
}

}  // namespace threadstore::cli
