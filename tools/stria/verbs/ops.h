// SPDX-License-Identifier: Apache-2.0
// `stria ops`: lists the ONNX operators that can be translated.
#pragma once

#include <string>
#include <vector>

#include "failure.h"

namespace stria::command {

struct OpsOptions {
  std::vector<std::string> names;  // to look for; none: every one
  bool json = false;
};
Outcome ops(const OpsOptions& options);

}  // namespace stria::command
