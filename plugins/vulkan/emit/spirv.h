// SPDX-License-Identifier: Apache-2.0
// The enumerants of SPIR-V, by the names of its specification: spv::Op::OpIAdd,
// spv::Capability::Shader. GLSLstd450… are the instructions of the set "GLSL.std.450".
#pragma once

#include <spirv/unified1/GLSL.std.450.h>

#include <spirv/unified1/spirv.hpp11>
