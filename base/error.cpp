#include "threadstore/error.h"

#include <nlohmann/json.hpp>

namespace threadstore {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::damaged:
      return "damaged";
    case ErrorCode::newer_format:
      return "newer_format";
    case ErrorCode::io:
      return "io";
    case ErrorCode::unknown_outcome:
      return "unknown_outcome";
  }
  return "unknown";
}

std::string_view to_string(IoReason reason) {
  switch (reason) {
    case IoReason::other:
      return "other";
    case IoReason::disk_full:
      return "disk_full";
    case IoReason::read_only:
      return "read_only";
    case IoReason::permission:
      return "permission";
    case IoReason::store_replaced:
      return "store_replaced";
  }
  return "other";
}

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {}

Error::Error(ErrorCode code, const std::string& message, nlohmann::json details)
    : std::runtime_error(message),
      code_(code),
      details_(std::make_shared<const nlohmann::json>(std::move(details))) {}

Error::Error(IoReason reason, const std::string& message)
    : std::runtime_error(message), code_(ErrorCode::io), io_reason_(reason) {}

const nlohmann::json& Error::details() const noexcept {
  static const nlohmann::json none = nlohmann::json::object();
  return details_ ? *details_ : none;
}

Error Error::after_commit() const {
  Error marked = *this;
  marked.committed_ = true;
  return marked;
}

}  // namespace threadstore
