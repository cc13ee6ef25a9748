// SPDX-License-Identifier: Apache-2.0
// A choice between devices, for people and for machines.
#pragma once

#include <string>

#include "stria/base/status.h"
#include "stria/runtime/pick/prediction.h"

namespace stria::command {

// A line for each device: what a run takes there, or at which gate it was dropped; models stand
// among them; then why the first one is best. `kernels`: a line for each kernel of that one, too.
std::string pick_text(const Pick& pick, bool kernels);
std::string pick_json(const Pick& pick);
// What speaks against the devices that `names` means ("opencl:0", "opencl", "*:*H100*"), a line for
// each, on stdout. not_found if it means none.
Status print_why_not(const Pick& pick, const std::string& names);

}  // namespace stria::command
