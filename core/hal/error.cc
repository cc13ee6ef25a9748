// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/error.h"

#include <string>

#include "stria/hal/info.h"
#include "stria/hal/sized.h"

namespace stria::hal {
namespace {

// Longest chain of causes that is read: a plugin might make a ring.
constexpr int kMaxCauses = 8;
// Longest text of an error that is read: its size might be anything.
constexpr size_t kMaxText = 1 << 20;

struct OwnedError : stria_error {
  std::string text;
  std::string native_text;
};

void release_owned(stria_error* error) { delete static_cast<OwnedError*>(error); }

// What the callee calls a bug of its own is not one of ours.
StatusCode code_of(const stria_error& error) {
  stria_code code = STRIA_SIZED(error, code, STRIA_INTERNAL);
  return code > STRIA_OK && code < STRIA_INTERNAL ? static_cast<StatusCode>(code) : kPluginFault;
}

std::string_view text_of(stria_string text) { return view_of(text).substr(0, kMaxText); }

std::string message_of(const stria_error& error) {
  const stria_string none = {nullptr, 0};
  std::string text(text_of(STRIA_SIZED(error, message, none)));
  if (text.empty()) text = "no message";
  stria_code code = STRIA_SIZED(error, code, STRIA_INTERNAL);
  if (code <= STRIA_OK || code > STRIA_INTERNAL) text += fmt::format(" (unknown code {})", code);
  std::string_view native = text_of(STRIA_SIZED(error, native_message, none));
  int64_t number = STRIA_SIZED(error, native_code, int64_t{0});
  if (!native.empty() || number != 0)
    text += fmt::format(" (driver: {}{}{})", native, native.empty() ? "" : ", ", number);
  if (std::string_view place = text_of(STRIA_SIZED(error, place, none)); !place.empty())
    text += fmt::format(" [{}]", place);
  if (std::string_view hint = text_of(STRIA_SIZED(error, suggestion, none)); !hint.empty())
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
  try {
    if (release) release(error);
  } catch (...) {
    return Status(kPluginFault,
                  status.message() + " (and the error's release let an exception out)");
  }
  return status;
}

stria_error* to_error(const Status& status) {
  if (status.ok()) return nullptr;
  auto* error = new OwnedError{};
  error->size = sizeof(stria_error);
  error->code =
      status.code() == kPluginFault ? STRIA_INTERNAL : static_cast<stria_code>(status.code());
  error->text = status.message();
  error->message = to_c(error->text);
  error->release = release_owned;
  return error;
}

}  // namespace stria::hal
