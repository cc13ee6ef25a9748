// SPDX-License-Identifier: Apache-2.0
#include "stria/reader/errors.h"

#include <cctype>
#include <new>

namespace stria::reader {
namespace {

struct OwnedError : stria_error {
  std::string owned_message, owned_place;
};

stria_string text_of(const std::string& text) { return {text.data(), text.size()}; }

size_t digits_at(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
  return end - at;
}

// "name:3:5" of a message that begins so; else "".
std::string place_of(std::string_view message, std::string_view name) {
  if (message.substr(0, name.size()) != name) return "";
  size_t at = name.size();
  for (int number = 0; number < 2; ++number) {
    if (at >= message.size() || message[at] != ':') return "";
    const size_t digits = digits_at(message, at + 1);
    if (digits == 0) return "";
    at += 1 + digits;
  }
  return std::string(message.substr(0, at));
}

stria_error* make(stria_code code, std::string message, std::string place) {
  auto* out = new OwnedError();
  out->owned_message = std::move(message);
  out->owned_place = std::move(place);
  out->size = sizeof(stria_error);
  out->code = code;
  out->message = text_of(out->owned_message);
  out->place = text_of(out->owned_place);
  out->release = [](stria_error* error) { delete static_cast<OwnedError*>(error); };
  return out;
}

}  // namespace

stria_error* error_of(const Status& status) {
  return make(static_cast<stria_code>(status.code()), status.message(), "");
}

stria_error* error_at(const Status& status, std::string_view name) {
  return make(static_cast<stria_code>(status.code()), status.message(),
              place_of(status.message(), name));
}

stria_error* no_memory() {
  static constexpr char text[] = "out of host memory";
  static stria_error error = [] {
    stria_error out{};
    out.size = sizeof out;
    out.code = STRIA_OUT_OF_MEMORY;
    out.message = {text, sizeof text - 1};
    out.release = [](stria_error*) {};
    return out;
  }();
  return &error;
}

stria_error* unexpected(const char* what) {
  try {
    return make(STRIA_INTERNAL, std::string("unexpected exception: ") + what, "");
  } catch (...) {
    return no_memory();
  }
}

}  // namespace stria::reader
