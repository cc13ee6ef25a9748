// SPDX-License-Identifier: Apache-2.0
// Every generic pass, for pipelines and for help. all_passes.def is the list.
#pragma once

#include <vector>

#include "stria/pass/pipeline.h"

namespace stria::passes {

// In the order of all_passes.def, which is by name.
std::vector<PassInfo> all_passes();

// These passes, and the fragments of pipelines in core/passes/fragments.
PassRegistry pass_registry();

}  // namespace stria::passes
