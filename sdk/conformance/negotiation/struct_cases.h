// SPDX-License-Identifier: Apache-2.0
// Cases of group N: hosts whose stria_host_info and stria_plugin_info are shorter or longer than
// today's, or have extension structs behind them.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_struct_cases(CaseMaker& maker);

}  // namespace stria::conformance
