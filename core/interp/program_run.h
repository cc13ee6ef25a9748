// SPDX-License-Identifier: Apache-2.0
// One run of a whole program: checks the caller's tensors against the program's, copies them into
// an Engine, and the results out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/interp/engine.h"
#include "stria/interp/interpret.h"

namespace stria::interp {

// Inputs and outputs of a program, by slot of the entry's refinements.
struct ProgramTensors {
  struct One {
    size_t slot = 0;
    ProgramTensor tensor;
  };
  std::vector<One> inputs, outputs;
};
Result<ProgramTensors> program_tensors(const stripe::Program& program);

// Ok if `arg` is a tensor of `shape`'s type and sizes with memory.
Status check_tensor(const TensorArg& arg, const TensorShape& shape);
// The argument of that name; invalid_argument if there is none.
Result<const TensorArg*> find_tensor(const std::vector<TensorArg>& args, const std::string& name);
// Ok if every argument is an input or output and none comes twice.
Status check_names(const std::vector<TensorArg>& args, const ProgramTensors& tensors);
// f(row-major position, offset in elements) for every element.
template <typename F>
void for_each_element(const TensorShape& shape, F f) {
  if (shape.element_count() == 0) return;
  std::vector<int64_t> at(shape.rank(), 0);
  int64_t position = 0, offset = 0;
  for (;;) {
    f(position++, offset);
    size_t d = shape.rank();
    for (; d > 0; --d) {
      const Dim& dim = shape.dims[d - 1];
      if (++at[d - 1] < dim.size) {
        offset += dim.stride;
        break;
      }
      at[d - 1] = 0;
      offset -= dim.stride * (dim.size - 1);
    }
    if (d == 0) return;
  }
}
// Copies element by element; both have the same type and sizes.
void copy_tensor(const TensorShape& to, void* to_data, const TensorShape& from,
                 const void* from_data);
// Offset in elements of the element at a row-major position.
int64_t offset_of(const TensorShape& shape, int64_t position);
// The element at a row-major position, "[1, 2]".
std::string coordinates_text(const TensorShape& shape, int64_t position);

// The caller's tensor as memory of a run with layout `shape`: in place if the layouts agree and it
// may be written, otherwise as a copy.
Result<Buffer> bring_in(const std::vector<TensorArg>& args, const ProgramTensor& tensor,
                        const TensorShape& shape, bool in_place, bool with_bounds);
// Ok if every element has been written.
Status check_written(const std::string& name, const Buffer& buffer);

// Same elements at the same places: strides agree wherever a size is over 1.
bool same_layout(const TensorShape& a, const TensorShape& b);

}  // namespace stria::interp
