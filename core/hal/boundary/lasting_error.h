// SPDX-License-Identifier: Apache-2.0
// Errors for who cannot allocate one.
#pragma once

#include <string_view>

#include "stria/plugin.h"

namespace stria::hal {

// An error that is never changed and outlives every receiver: nothing of it is allocated, and its
// release does nothing. `message` is a literal.
constexpr stria_error lasting_error(stria_code code, std::string_view message) {
  stria_error error{};
  error.size = sizeof error;
  error.code = code;
  error.message = {message.data(), message.size()};
  error.release = [](stria_error*) {};
  return error;
}

}  // namespace stria::hal
