// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/error.h"

#include <string>

#include "stria/hal/info.h"
#include "stria/hal/sized.h"

namespace stria::hal {
namespace {

// Longest chain of causes that is read: a plugin might make a ring.
constexpr int kMaxCauses = 8;

struct OwnedError : stria_error {
  std::string text;
  std::string native_text;
};

void release_owned(stria_error* error) { delete static_cast<OwnedError*>(error); }

StatusCode code_of(const stria_error& error) {
  stria_code code = STRIA_SIZED(error, code, STRIA_INTERNAL);
  return code > STRIA_OK && code <= STRIA_INTERNAL ? static_cast<StatusCode>(code)
                                                   : StatusCode::internal;
}

std::string message_of(const stria_error& error) {
  const stria_string none = {nullptr, 0};
  std::string text(view_of(STRIA_SIZED(error, message, none)));
  if (text.empty()) text = "no message";
  stria_code code = STRIA_SIZED(error, code, STRIA_INTERNAL);
  if (code <= STRIA_OK || code > STRIA_INTERNAL) text += fmt::format(" (unknown code {})", code);
  std::string_view native = view_of(STRIA_SIZED(error, native_message, none));
  int64_t number = STRIA_SIZED(error, native_code, int64_t{0});
  if (!native.empty() || number != 0)
    text += fmt::format(" (driver: {}{}{})", native, native.empty() ? "" : ", ", number);
  if (std::string_view place = view_of(STRIA_SIZED(error, place, none)); !place.empty())
    text += fmt::format(" [{}]", place);
  if (std::string_view hint = view_of(STRIA_SIZED(error, suggestion, none)); !hint.empty())
    text += fmt::format("; {}", hint);
  return text;
}

}  // namespace

Status status_of(const stria_error* error) {
  if (!error) return Status();
  std::string text = message_of(*error);
  const stria_error* cause = STRIA_SIZED(*error, cause, nullptr);
  for (int depth = 0; cause && depth < kMaxCauses; ++depth) {
    text += fmt::format("; because {}", message_of(*cause));
    cause = STRIA_SIZED(*cause, cause, nullptr);
  }
  return Status(code_of(*error), std::move(text));
}

Status take_error(stria_error* error) {
  if (!error) return Status();
  Status status = status_of(error);
  auto release = STRIA_SIZED(*error, release, nullptr);
  if (release) release(error);
  return status;
}

stria_error* to_error(const Status& status) {
  if (status.ok()) return nullptr;
  auto* error = new OwnedError{};
  error->size = sizeof(stria_error);
  error->code = static_cast<stria_code>(status.code());
  error->text = status.message();
  error->message = to_c(error->text);
  error->release = release_owned;
  return error;
}

}  // namespace stria::hal
