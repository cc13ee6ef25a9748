// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/boundary/error.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "stria/base/shown_text.h"
#include "stria/hal/boundary/info.h"
#include "stria/hal/boundary/sized.h"

namespace stria::hal {
namespace {

// Longest message of an error: who hands it on says before it which plugin and slot it came from.
constexpr size_t kMaxError = kMaxMessageBytes - kMaxNameBytes;
// Longest text beside the message: there are several.
constexpr size_t kMaxPart = kMaxMessageBytes / 4;

struct OwnedError : stria_error {
  std::string texts[4];  // message, native_message, place, suggestion
  std::unique_ptr<OwnedError> owned_cause;
};

bool is_error(const stria_error* error) { return is_address(error, alignof(stria_error)); }

std::unique_ptr<OwnedError> owned(stria_code code, int64_t native_code, std::string message) {
  auto error = std::make_unique<OwnedError>();
  error->size = sizeof(stria_error);
  error->code = code > STRIA_OK && code <= STRIA_INTERNAL ? code : STRIA_INTERNAL;
  error->native_code = native_code;
  error->texts[0] = std::move(message);
  error->message = to_c(error->texts[0]);
  error->release = [](stria_error* mine) { delete static_cast<OwnedError*>(mine); };
  return error;
}

std::unique_ptr<OwnedError> copied(const stria_error& error, int causes) {
  const stria_string none = {nullptr, 0};
  const auto text = [](stria_string from) {
    return std::string(view_of({from.data, std::min<uint64_t>(from.size, kMaxMessageBytes)}));
  };
  auto copy =
      owned(STRIA_SIZED(error, code, STRIA_INTERNAL), STRIA_SIZED(error, native_code, int64_t{0}),
            text(STRIA_SIZED(error, message, none)));
  copy->texts[1] = text(STRIA_SIZED(error, native_message, none));
  copy->texts[2] = text(STRIA_SIZED(error, place, none));
  copy->texts[3] = text(STRIA_SIZED(error, suggestion, none));
  copy->native_message = to_c(copy->texts[1]);
  copy->place = to_c(copy->texts[2]);
  copy->suggestion = to_c(copy->texts[3]);
  const stria_error* cause = STRIA_SIZED(error, cause, nullptr);
  if (causes > 0 && is_error(cause)) copy->owned_cause = copied(*cause, causes - 1);
  copy->cause = copy->owned_cause.get();
  return copy;
}

// What the callee calls a bug of its own is not one of ours.
StatusCode code_of(const stria_error& error) {
  stria_code code = STRIA_SIZED(error, code, STRIA_INTERNAL);
  return code > STRIA_OK && code < STRIA_INTERNAL ? static_cast<StatusCode>(code) : kPluginFault;
}

std::string message_of(const stria_error& error, Reader reader) {
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
      reader == Reader::author && !place.empty())
    text += fmt::format(" [{}]", place);
  if (const std::string hint = shown_text(STRIA_SIZED(error, suggestion, none), kMaxPart);
      !hint.empty())
    text += fmt::format("; {}", hint);
  return text;
}

}  // namespace

Status status_of(const stria_error* error, Reader reader) {
  if (!error) return Status();
  if (!is_error(error))
    return Status(kPluginFault, fmt::format("an error at the address {:#x}, where none can be",
                                            reinterpret_cast<uintptr_t>(error)));
  std::string text = message_of(*error, reader);
  const stria_error* cause = STRIA_SIZED(*error, cause, nullptr);
  for (int depth = 0; is_error(cause) && depth < kMaxCauses; ++depth) {
    text += fmt::format("; because {}", message_of(*cause, reader));
    cause = STRIA_SIZED(*cause, cause, nullptr);
  }
  return Status(code_of(*error), cut_text(text, kMaxError));
}

Status take_error(stria_error* error, Reader reader) {
  if (!error) return Status();
  Status status = status_of(error, reader);
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
  return owned(static_cast<stria_code>(status.code()), 0, status.message()).release();
}

stria_error* to_error_of_work(const Status& status) {
  if (status.code() == kPluginFault) return owned(STRIA_INTERNAL, 0, status.message()).release();
  return to_error(status);
}

stria_error* copy_of(const stria_error& error) { return copied(error, kMaxCauses).release(); }

}  // namespace stria::hal
