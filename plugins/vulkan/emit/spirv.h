// SPDX-License-Identifier: Apache-2.0
// The enumerants of SPIR-V, by the names of its specification: spv::Op::OpIAdd,
// spv::Capability::Shader. GLSLstd450… are the instructions of the set "GLSL.std.450".
#pragma once

#include <spirv/unified1/GLSL.std.450.h>

#include <spirv/unified1/spirv.hpp11>

// SPV_KHR_cooperative_matrix and SPV_KHR_bfloat16, which the headers of Debian 12 do not have yet.
namespace stria::vulkan::khr {

inline constexpr auto OpTypeCooperativeMatrixKHR = spv::Op{4456};
inline constexpr auto OpCooperativeMatrixLoadKHR = spv::Op{4457};
inline constexpr auto OpCooperativeMatrixStoreKHR = spv::Op{4458};
inline constexpr auto OpCooperativeMatrixMulAddKHR = spv::Op{4459};
inline constexpr auto OpCooperativeMatrixLengthKHR = spv::Op{4460};
inline constexpr auto CooperativeMatrixKHR = spv::Capability{6022};

inline constexpr auto BFloat16TypeKHR = spv::Capability{5116};
inline constexpr auto BFloat16CooperativeMatrixKHR = spv::Capability{5118};

enum class FPEncoding : uint32_t { BFloat16KHR = 0 };
enum class CooperativeMatrixLayout : uint32_t { RowMajorKHR = 0, ColumnMajorKHR = 1 };
enum class CooperativeMatrixUse : uint32_t { MatrixA = 0, MatrixB = 1, MatrixAccumulator = 2 };
// Which operands of a product are integers with a sign.
enum class CooperativeMatrixOperands : uint32_t { A = 1, B = 2, C = 4, Result = 8 };

}  // namespace stria::vulkan::khr
