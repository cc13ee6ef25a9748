// SPDX-License-Identifier: Apache-2.0
// Group Q: random graphs of work, compared with a model.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_event_graph_cases(CaseMaker& maker);

}  // namespace stria::conformance
