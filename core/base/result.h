// SPDX-License-Identifier: Apache-2.0
// How functions of stria fail: a Status names the kind of failure (what a caller may do about it)
// and says in one sentence what was wrong. Result<T> is a value or such a Status. No exception
// leaves a function of stria, but for std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "stria/base/api.h"

namespace stria {

// The numbers are part of the C ABI (sdk/include/stria/plugin.h has the same list).
enum class StatusCode : int {
  ok = 0,
  invalid_argument = 1,      // the caller's program, file, value or shape is wrong: mend it
  not_found = 2,             // a name, file or device that is not there
  out_of_range = 3,          // a number beyond its limit
  unimplemented = 4,         // the slot or feature does not exist here
  unsupported = 5,           // exists, but not for this input
  unavailable = 6,           // not now: no device, no driver; may be later
  incompatible = 7,          // version or build mismatch
  out_of_memory = 8,         // host or device memory is used up
  device_lost = 9,           // the device is gone; every later call says the same
  permission_denied = 10,    // not trusted or not allowed
  deadline_exceeded = 11,    // a time limit ran out
  cancelled = 12,            // not run because something it waited for failed
  data_loss = 13,            // truncated or corrupt data
  failed_precondition = 14,  // right call, wrong moment
  unknown = 15,              // an analysis could not decide within its budget
  internal = 16,             // our bug
};

// The code's name as printed, for example "invalid_argument".
STRIA_API std::string_view name_of(StatusCode code);

class [[nodiscard]] STRIA_API Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  // "invalid_argument: …", or "ok".
  std::string to_string() const;
  // The same failure with "context: " before its message. Ok stays ok.
  Status with_context(std::string_view context) const;

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

// Says on stderr that the value of a failed Result was asked for, and why there is none; exits with
// code 4.
[[noreturn]] STRIA_API void end_without_value(const Status& failure);

// A value, or the Status that says why there is none. As safe from several threads as T is.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: meant to convert
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {  // NOLINT
    if (std::get<1>(state_).ok()) end_without_value(std::get<1>(state_));
  }

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

  // The value. Without one the process ends with the failure's text on stderr (exit code 4): good
  // enough for short programs and where ok() was asked before.
  T& value() & {
    if (!ok()) end_without_value(std::get<1>(state_));
    return std::get<0>(state_);
  }
  const T& value() const& {
    if (!ok()) end_without_value(std::get<1>(state_));
    return std::get<0>(state_);
  }
  T value() && {
    if (!ok()) end_without_value(std::get<1>(state_));
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

#define STRIA_CONCAT_(a, b) a##b
#define STRIA_CONCAT(a, b) STRIA_CONCAT_(a, b)

#define STRIA_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                           \
    if (::stria::Status stria_status_ = (expression); !stria_status_.ok()) return stria_status_; \
  } while (false)

// STRIA_ASSIGN(auto x, f()): x = the value of f(), or return its failure.
#define STRIA_ASSIGN(target, expression) \
  STRIA_ASSIGN_(STRIA_CONCAT(stria_result_, __LINE__), target, expression)
#define STRIA_ASSIGN_(name, target, expression) \
  auto name = (expression);                     \
  if (!name.ok()) return name.status();         \
  target = std::move(name).value()

}  // namespace stria
