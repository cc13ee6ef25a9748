// SPDX-License-Identifier: Apache-2.0
// Failures as errors of the boundary. No exception leaves the reader.
#pragma once

#include <string>
#include <string_view>

#include "stria/base/status.h"
#include "stria/plugin.h"

namespace stria::reader {

// Of a failure; never null.
stria_error* error_of(const Status& status);
// The same, null of success.
inline stria_error* failure(const Status& status) {
  return status.ok() ? nullptr : error_of(status);
}
// The same of a text's reader. The place of its first message, "name:line:column", becomes the
// error's.
stria_error* error_at(const Status& status, std::string_view name);
// For when there is no memory left to say so.
stria_error* no_memory();
// "unexpected exception: …"; never null.
stria_error* unexpected(const char* what);

// What `function` returns, or what it throws.
template <typename Function>
stria_error* guarded(const Function& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::exception& exception) {
    return unexpected(exception.what());
  } catch (...) {
    return unexpected("of an unknown type");
  }
}

}  // namespace stria::reader
