// SPDX-License-Identifier: Apache-2.0
// What a device lets a kernel's module use. device_query.cc fills it from Vulkan's features and
// properties; tests make it up. Plain values, no Vulkan header.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stria/type/data_type.h"

namespace stria::vulkan {

// What a device promises of floats of one width (VkPhysicalDeviceFloatControlsProperties).
struct FloatControls {
  // Signed zeros, infinities and NaN (…SignedZeroInfNanPreserve…).
  bool keeps_special = false;
  bool keeps_subnormals = false;  // (…DenormPreserve…)
  bool rounds_to_even = false;    // (…RoundingModeRTE…)
};

// A product that subgroups of the device compute: m x n sums of k products each.
struct MatrixForm {
  int64_t m = 0, n = 0, k = 0;
  DataType left = DataType::fp16, right = DataType::fp16, sum = DataType::fp32;
  bool operator==(const MatrixForm&) const = default;
};

struct Features {
  std::string device = "the device";  // its name, for messages
  bool fp64 = false;                  // shaderFloat64
  bool fp16 = false;                  // shaderFloat16; used for conversions alone
  bool int64 = false;                 // shaderInt64
  bool int16 = false;                 // shaderInt16; of tensors and of arrays that lanes share
  bool int8 = false;                  // shaderInt8; likewise
  bool storage16 = false;             // storageBuffer16BitAccess
  bool storage8 = false;              // storageBuffer8BitAccess
  // Arrays that lanes share may be viewed as elements of several types
  // (workgroupMemoryExplicitLayout, …8BitAccess, …16BitAccess).
  bool shared_views = false;
  bool shared_views16 = false;
  bool shared_views8 = false;
  FloatControls of16, of32, of64;
  std::vector<MatrixForm> matrices;  // (cooperativeMatrix) of subgroups; empty: none
  // The program asked for it: functions of fp32 as the hardware has them.
  bool fast_math = false;
  // Words of the module's header: 0x00010500 (Vulkan 1.2) or 0x00010600 (1.3).
  uint32_t spirv_version = 0x00010500;
  int64_t push_bytes = 128;  // maxPushConstantsSize
  // Kernels of no more groups are always dispatched whole.
  int64_t whole_groups = INT64_MAX;
};

// The most that one dispatch may have.
struct Limits {
  // Iterations of all loops together that one lane may run; 0: any number. A driver ends every loop
  // behind the last of them, and says nothing.
  int64_t loop_iterations = 0;
  int64_t group_lanes = 128;     // maxComputeWorkGroupInvocations and …Size[0]
  int64_t shared_bytes = 16384;  // maxComputeSharedMemorySize
  std::array<int64_t, 3> groups = {65535, 65535, 65535};  // maxComputeWorkGroupCount
};

}  // namespace stria::vulkan
