#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace threadstore {

/// What went wrong, named by what the caller can do about it.
enum class ErrorCode {
  invalid_argument,  ///< the call is wrong; repeating it unchanged cannot succeed
  not_found,         ///< the named thing does not exist (or was removed)
  conflict,          ///< somebody else changed what the caller relied on; look again, then decide
  busy,              ///< the deadline passed while another process or thread held a lock; try again
  damaged,           ///< stored bytes are not what was written; see `threadstore doctor`
  newer_format,      ///< the file was written by a newer version; nothing was changed
  io,                ///< the system refused (disk full, permission, read-only, store replaced)
  unknown_outcome,   ///< the disk failed during a commit: the change may or may not be stored
};

/// The lower-case word of a code, as `--json` prints it ("not_found").
std::string_view to_string(ErrorCode code);

/// Why the system refused, when the code is `io`.
enum class IoReason { other, disk_full, read_only, permission, store_replaced };

std::string_view to_string(IoReason reason);

/// The one exception type of the library. `what()` says what was tried, on what, why it failed
/// and, where the caller can act, what to do next. Copying never throws.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  /// `details` is a JSON object with the machine-readable facts (ids, expected and current values).
  Error(ErrorCode code, const std::string& message, nlohmann::json details);
  Error(IoReason reason, const std::string& message);

  ErrorCode code() const noexcept { return code_; }
  /// Meaningful when `code()` is `io`.
  IoReason io_reason() const noexcept { return io_reason_; }
  /// True when part of the work was durably committed before the failure (batched operations).
  bool committed() const noexcept { return committed_; }
  /// A JSON object; empty when there is nothing to add to the message.
  const nlohmann::json& details() const noexcept;

  /// The same error, marked as raised after something had been committed.
  Error after_commit() const;

 private:
  ErrorCode code_;
  IoReason io_reason_ = IoReason::other;
  bool committed_ = false;
  std::shared_ptr<const nlohmann::json> details_;
};

}  // namespace threadstore
