// SPDX-License-Identifier: Apache-2.0
// What a choice by autotile costs for each contraction of ResNet-50: every cost with every search.
#pragma once

namespace stria::bench {

// A row each, the best of `rounds`; on stdout.
void print_autotile_rows(int rounds);

}  // namespace stria::bench
