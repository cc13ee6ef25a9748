// SPDX-License-Identifier: Apache-2.0
// Products of matrices that the lanes of a subgroup hold together: which ones the driver has, and
// what the hardware model says of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "emit/features.h"
#include "loader.h"

namespace stria::vulkan {

// The forms that the driver lists for subgroups, in its order: those whose sums do not saturate and
// keep their type. `bfloat16`: bf16 may be used. None if the driver does not answer. Precondition:
// the device has the extension.
std::vector<MatrixForm> matrix_forms(const Instance& vk, VkPhysicalDevice device, bool bfloat16);

// Is the form one of the model's instructions? Its sums are then fp32, i32 or u32, as the program's
// are.
bool is_instruction(const MatrixForm& form);
// "matrix_fp16_fp32_16x16x16": types of the left matrix and of the sums, m x n x k; the right
// matrix's type comes behind the left one's if it is another.
std::string instruction_name(const MatrixForm& form);
// The instructions of SUBGROUP as hw/*.json's model has them, by name; how fast they are is not
// known yet.
nlohmann::json instructions_of(const std::vector<MatrixForm>& forms);

}  // namespace stria::vulkan
