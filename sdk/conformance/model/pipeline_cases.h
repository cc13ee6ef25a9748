// SPDX-License-Identifier: Apache-2.0
// Group H: each pipeline on each kind, with programs of every form, before any device sees them.
#pragma once

#include <string>

#include "suite/all_cases.h"

namespace stria::conformance {

void add_pipeline_cases(CaseMaker& maker, const std::string& kind);

}  // namespace stria::conformance
