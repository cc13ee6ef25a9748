// SPDX-License-Identifier: Apache-2.0
// A generated program's tensors as the host has them, and numbers that a caller of a test may set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/runtime/compilation.h"
#include "stria/type/host_tensor.h"
#include "tile_case.h"

namespace stria::differential {

// The environment variable's number, or `otherwise`.
uint64_t number_from(const char* variable, uint64_t otherwise);

InputTypes types_of(const GeneratedProgram& program);

// Of `like`'s type and sizes, with these values, or zeros if `values` is null.
HostTensor tensor_of(const GeneratedTensor& like, const std::vector<Scalar>* values);

// The assigned tensor of that name; it must be there.
const GeneratedTensor& tensor_named(const GeneratedProgram& program, const std::string& name);

// The program's text with the sizes of its inputs, for the message of a failure.
std::string listing(const GeneratedProgram& program);

}  // namespace stria::differential
