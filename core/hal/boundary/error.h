// SPDX-License-Identifier: Apache-2.0
// Between Status and the error objects that cross the plugin boundary.
#pragma once

#include "stria/base/status.h"
#include "stria/plugin.h"

namespace stria::hal {

// What a plugin's own bug counts as: it lets an exception out, breaks a rule of the boundary, or
// says `internal`. Another build of it may do better; our code has no bug.
inline constexpr StatusCode kPluginFault = StatusCode::incompatible;

// The error as a Status: its message, then native code, place, suggestion and causes as far as they
// are there, escaped and cut (base/shown_text.h). A null pointer is ok; `internal`, a bug of the
// callee, and a code outside the list become `incompatible`.
Status status_of(const stria_error* error);
// The same, and releases the error.
Status take_error(stria_error* error);
// An error that the receiver owns; null if `status` is ok.
stria_error* to_error(const Status& status);

}  // namespace stria::hal
