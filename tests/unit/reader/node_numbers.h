// SPDX-License-Identifier: Apache-2.0
// Numbers of the types of stria/tree.h, as its rules of arithmetic and conversion have them.
#ifndef STRIA_NODE_NUMBERS_H
#define STRIA_NODE_NUMBERS_H

#include "stria/tree.h"

// One lane: integers and bool in `i`, extended to 64 bits (u64 as its bits); floats in `f`.
typedef union cell {
  int64_t i;
  double f;
} cell;

int is_float_type(stria_data_type type);
// Fewer bits than 64 of an integer or bool, extended.
int64_t wrapped(stria_data_type type, uint64_t bits);
cell converted(stria_data_type from, cell value, stria_data_type to);
cell load_cell(stria_data_type type, const void* memory, int64_t index);
void store_cell(stria_data_type type, void* memory, int64_t index, cell value);

// One operation on operands of `type`. Adds to *wraps if an integer's result does not fit.
cell operated(stria_tree_operation operation, stria_data_type type, const cell* operands,
              int* wraps);
// NULL if there is no such function, else *out is its value.
const char* called(stria_string function, stria_data_type type, const cell* operands, cell* out);

#endif  // STRIA_NODE_NUMBERS_H
