// SPDX-License-Identifier: Apache-2.0
// Tensors as a device has them, strides included, and as people exchange them: row by row.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/hal/device.h"
#include "stria/interp/interpret.h"
#include "stria/type/host_tensor.h"
#include "stria/type/tensor_shape.h"

namespace stria {

struct StridedTensor {
  std::vector<std::byte> bytes;
  TensorShape shape;
};

// What the device has there; waits.
Result<StridedTensor> read_strided(const TensorShape& shape, uint64_t bytes,
                                   const hal::Argument& place);
// Puts it there; waits.
Status write_strided(const StridedTensor& tensor, const hal::Argument& place);

// Row by row. What lies between the elements is 0, in so many bytes.
Result<HostTensor> dense(const std::string& name, const StridedTensor& from);
// `from` has the shape's type and sizes.
StridedTensor strided(const HostTensor& from, const TensorShape& shape, uint64_t bytes);

// Borrows the bytes.
interp::TensorArg argument_of(const std::string& name, StridedTensor& tensor);

}  // namespace stria
