// SPDX-License-Identifier: Apache-2.0
// A kernel that measures how fast subgroups multiply matrices of a form.
#pragma once

#include <cstdint>

#include "emit/features.h"
#include "emit/program.h"

namespace stria::vulkan {

struct MatrixRateKernel {
  KernelCode code;
  double products = 0;  // of all its subgroups
};

// Each subgroup adds up products in kMatrixSums sums that do not need each other, and touches
// memory before and after only. What it reads must be zeros; R, its first argument, is then not
// written. The units of the device get the same work, much more of it than they run at once.
// Precondition: `subgroup_lanes` are at most those of a group.
MatrixRateKernel matrix_rate_kernel(const MatrixForm& form, int64_t units, int64_t subgroup_lanes,
                                    const Features& features, const Limits& limits);

inline constexpr int64_t kMatrixSums = 4;
// Products of a subgroup that are written down one after the other: the loop hardly counts.
inline constexpr int64_t kProductsWritten = 32;

}  // namespace stria::vulkan
