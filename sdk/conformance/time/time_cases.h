// SPDX-License-Identifier: Apache-2.0
// Group R: durations of events, and estimates where the plugin gives them.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_duration_cases(CaseMaker& maker);
void add_estimate_cases(CaseMaker& maker);
void add_rank_cases(CaseMaker& maker);

}  // namespace stria::conformance
