// SPDX-License-Identifier: Apache-2.0
// `stria devices`: every device of every plugin, available or not and why. Always succeeds.
#pragma once

#include "failure.h"

namespace stria::command {

struct DevicesOptions {
  bool json = false;
};
Outcome devices(const DevicesOptions& options);

}  // namespace stria::command
