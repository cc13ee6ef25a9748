// SPDX-License-Identifier: Apache-2.0
// Which indices of a block are the rows, columns and depth of a product of matrices, and which
// elementwise kernels treat its result as a matrix.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "stria/base/refusal.h"
#include "stria/cost/workgroup/matrix_time.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::passes {

// The dimensions of a tensor along which a matrix has its rows and its columns: coordinate
// dims[rows] says which row.
struct MatrixDims {
  size_t rows = 0, columns = 0;
};

struct ProductForm {
  bool types_fit = false;          // set even if something else does not
  std::string row, column, depth;  // the block's indices
  MatrixDims result;               // of the tensor that is written
  std::string left;                // the view that has the rows
  DataType left_type = DataType::fp32, right_type = DataType::fp32;
  int64_t unit_rows = 0, unit_columns = 0, unit_depth = 0;  // what is multiplied at once
  cost::MatrixProduct product;
};

// Fills `form` if the block is a product that the instruction computes, on lanes that move vectors
// of `vector_bytes`. Tiles need not divide the
// block's ranges: what goes beyond is masked. Lanes may compute its factors: what counts is the
// type of their values. The row is the index of the earlier dimension of the result: operands and
// indices change places if the instruction's match has it otherwise.
Refusal product_form(const stripe::Block& block, const Instruction& instruction,
                     int64_t vector_bytes, ProductForm& form);

// The fastest way to compute a block on matrix units.
struct MatrixChoice {
  const Instruction* instruction = nullptr;  // of the model
  ProductForm form;
  cost::MatrixUnit unit;
  cost::MatrixTile tile;
};

// Of all instructions of the execution unit `unit`, in tiles of groups that run on the unit
// `group`. An instruction without cycles is not used: nobody knows that it is fast. nullopt, with
// the reason, if there is none.
std::optional<MatrixChoice> fastest_matrix_tile(const stripe::Block& block,
                                                const HardwareModel& model, const std::string& unit,
                                                const std::string& group,
                                                const cost::GroupRates& rates, Refusal& why_none);

// Why the elementwise kernel cannot compute element by element on matrices of the tensor that it
// reads as `ref`, in which they have these dimensions. If it can, the tensors that it writes go to
// `written`, with their dimensions.
Refusal why_no_tail(const stripe::Block& kernel, const stripe::Refinement& ref,
                    const MatrixDims& dims, std::map<std::string, MatrixDims>& written);

}  // namespace stria::passes
