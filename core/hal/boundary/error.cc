// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/boundary/error.h"

#include <string>

#include "stria/base/shown_text.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/sized.h"

namespace stria::hal {
namespace {

// Longest chain of causes that is read: a plugin might make a ring.
constexpr int kMaxCauses = 8;
// Longest message of an error: who hands it on says before it which plugin and slot it came from.
constexpr size_t kMaxError = kMaxMessageBytes - kMaxNameBytes;
// Longest text beside the message: there are several.
constexpr size_t kMaxPart = kMaxMessageBytes / 4;

struct OwnedError : stria_error {
  std::string text;
  std::string native_text;
};

bool is_error(const stria_error* error) { return is_address(error, alignof(stria_error)); }

void release_owned(stria_error* error) { delete static_cast<OwnedError*>(error); }

// What the callee calls a bug of its own is not one of ours.
StatusCode code_of(const stria_error& error) {
  stria_code code = STRIA_SIZED(error, code, STRIA_INTERNAL);
  return code > STRIA_OK && code < STRIA_INTERNAL ? static_cast<StatusCode>(code) : kPluginFault;
}

std::string message_of(const stria_error& error) {
  const stria_string none = {nullptr, 0};
  std::string text = shown_text(STRIA_SIZED(error, message, none), kMaxError);
  if (text.empty()) text = "no message";
  stria_code code = STRIA_SIZED(error, code, STRIA_INTERNAL);
  if (code <= STRIA_OK || code > STRIA_INTERNAL) text += fmt::format(" (unknown code {})", code);
  const std::string native = shown_text(STRIA_SIZED(error, native_message, none), kMaxPart);
  int64_t number = STRIA_SIZED(error, native_code, int64_t{0});
  if (!native.empty() || number != 0)
    text += fmt::format(" (driver: {}{}{})", native, native.empty() ? "" : ", ", number);
  if (const std::string place = shown_text(STRIA_SIZED(error, place, none), kMaxPart);
      !place.empty())
    text += fmt::format(" [{}]", place);
  if (const std::string hint = shown_text(STRIA_SIZED(error, suggestion, none), kMaxPart);
      !hint.empty())
    text += fmt::format("; {}", hint);
  return text;
}

}  // namespace

Status status_of(const stria_error* error) {
  if (!error) return Status();
  if (!is_error(error))
    return Status(kPluginFault, fmt::format("an error at the address {:#x}, where none can be",
                                            reinterpret_cast<uintptr_t>(error)));
  std::string text = message_of(*error);
  const stria_error* cause = STRIA_SIZED(*error, cause, nullptr);
  for (int depth = 0; is_error(cause) && depth < kMaxCauses; ++depth) {
    text += fmt::format("; because {}", message_of(*cause));
    cause = STRIA_SIZED(*cause, cause, nullptr);
  }
  return Status(code_of(*error), cut_text(text, kMaxError));
}

Status take_error(stria_error* error) {
  if (!error) return Status();
  Status status = status_of(error);
  if (!is_error(error)) return status;
  auto release = STRIA_SIZED(*error, release, nullptr);
  try {
    // Without one nobody can give it back: it lasts, or leaks.
    if (is_address(reinterpret_cast<const void*>(release))) release(error);
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
