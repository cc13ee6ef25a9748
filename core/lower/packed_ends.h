// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of packed types (rule T14): their bytes are u8 tensors. Kernels take these
// apart before the program's own kernels, and put them together after. No device knows the types.
#pragma once

#include <optional>
#include <vector>

#include "stria/lower/lowering.h"

namespace stria::lower_detail {

// A step between a tensor that holds elements and the u8 tensor of their bytes.
struct PackedStep {
  DataType type = DataType::u8;  // packed
  tile::TensorId held = 0;       // sizes of the program's tensor
  tile::TensorId row = 0;        // the same elements where they fill bytes; `held` itself, mostly
  tile::TensorId bytes = 0;      // memory_shape
};

// The program with the u8 tensors as its inputs and outputs.
struct PackedEnds {
  tile::BoundProgram program;
  std::vector<PackedStep> unpack, pack;
};
// Nothing if no input and no output is of a packed type.
std::optional<PackedEnds> packed_ends(const tile::BoundProgram& program);

Status lower_unpack(Lowering& lowering, const PackedStep& step);
Status lower_pack(Lowering& lowering, const PackedStep& step);

}  // namespace stria::lower_detail
