// SPDX-License-Identifier: Apache-2.0
// What a library says of its kernels: which there are, in which order, with which arguments.
#pragma once

#include "suite/all_cases.h"

namespace stria::conformance {

void add_kernel_list_cases(CaseMaker& maker);

}  // namespace stria::conformance
