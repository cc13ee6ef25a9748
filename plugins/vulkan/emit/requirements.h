// SPDX-License-Identifier: Apache-2.0
// What a kernel needs of a device.
#pragma once

#include <cstdint>

#include "emit/features.h"
#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

// Bytes that one element of an array that lanes share really takes there. Elements of 8 and 16 bits
// take 32 where the device cannot address less.
int64_t shared_element_bytes(DataType type, const Features& features);
// Where each array that lanes share begins, by its number among the function's arrays; -1: it is
// not shared. All of them end at `end`, bytes.
struct SharedLayout {
  std::vector<int64_t> begins;
  int64_t end = 0;
};
SharedLayout shared_layout(const semtree::Function& function, const Features& features);

// unsupported, naming the type, the Vulkan feature and the device, if the device lacks what the
// function needs, or the form of its matrices (matrix_check.h); out_of_range if its groups share
// more than `shared_bytes`.
Status check_device(const semtree::Function& function, const Features& features,
                    int64_t shared_bytes = INT64_MAX);
// The same of a value of this type. `what` has it: "tensor 'A'".
Status check_type(DataType type, std::string_view what, const Features& features);

}  // namespace stria::vulkan
