// SPDX-License-Identifier: Apache-2.0
// What matrix_groups has written into a tile that matrix units compute: its instruction, and which
// of its indices are rows, columns and depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stria/base/refusal.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

struct MatrixTileForm {
  const Instruction* instruction = nullptr;                 // of the model
  std::string row, column, depth;                           // indices of the tile
  int64_t unit_rows = 0, unit_columns = 0, unit_depth = 0;  // what is multiplied at once
  const InstructionOperand *left = nullptr, *right = nullptr, *sum = nullptr;
};

// The one dimension that is the index alone; nullopt if there is none, or another also uses it.
std::optional<size_t> dimension_of(const stripe::Refinement& ref, const std::string& index);

// The first block inside with a tag #fragments; null if there is none.
stripe::Block* find_matrix_tile(stripe::Block& block);

// `unit`: the execution unit that has the instructions.
Refusal read_matrix_tile(const stripe::Block& tile, const HardwareModel& model,
                         const std::string& unit, MatrixTileForm& form);

}  // namespace stria::passes
