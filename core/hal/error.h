// SPDX-License-Identifier: Apache-2.0
// Between Status and the error objects that cross the plugin boundary.
#pragma once

#include "stria/base/status.h"
#include "stria/plugin.h"

namespace stria::hal {

// The error as a Status: its message, then native code, place, suggestion and causes as far as they
// are there. A null pointer is ok; a code outside the list becomes `internal`.
Status status_of(const stria_error* error);
// The same, and releases the error.
Status take_error(stria_error* error);
// An error that the receiver owns; null if `status` is ok.
stria_error* to_error(const Status& status);

}  // namespace stria::hal
