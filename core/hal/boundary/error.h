// SPDX-License-Identifier: Apache-2.0
// Between Status and the error objects that cross the plugin boundary.
#pragma once

#include "stria/base/status.h"
#include "stria/plugin.h"

namespace stria::hal {

// What a plugin's own bug counts as: it lets an exception out, breaks a rule of the boundary, or
// says `internal`. Another build of it may do better; our code has no bug.
inline constexpr StatusCode kPluginFault = StatusCode::incompatible;

// Who a message is for. The place in the plugin's source ("file:line") is for who can edit it.
enum class Reader : bool { user, author };

// The error as a Status: its message, then native code, place (for the author), suggestion and
// causes as far as they are there, escaped and cut (base/shown_text.h). A null pointer is ok;
// `internal`, a bug of the callee, and a code outside the list become `incompatible`.
Status status_of(const stria_error* error, Reader reader = Reader::user);
// The same, and releases the error.
Status take_error(stria_error* error, Reader reader = Reader::user);
// An error that the receiver owns; null if `status` is ok.
stria_error* to_error(const Status& status);
// The same for work of a plugin that failed: kPluginFault is a bug of that plugin, `internal`.
stria_error* to_error_of_work(const Status& status);
// A copy that the receiver owns and that points to nothing of `error`: a code outside the list
// becomes `internal`, texts are cut at kMaxMessageBytes, and of the causes the first kMaxCauses are
// kept.
stria_error* copy_of(const stria_error& error);

// Longest chain of causes that is read: a plugin might make a ring.
inline constexpr int kMaxCauses = 8;

}  // namespace stria::hal
