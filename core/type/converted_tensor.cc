// SPDX-License-Identifier: Apache-2.0
#include "stria/type/converted_tensor.h"

#include "stria/base/status.h"
#include "stria/type/scalar.h"

namespace stria {

Result<HostTensor> converted(const HostTensor& tensor, DataType type) {
  STRIA_ASSIGN(HostTensor out, HostTensor::create(type, tensor.sizes(), "converted tensor"));
  for (int64_t e = 0; e < out.element_count(); ++e)
    store_scalar(type, out.data(), e, load_scalar(tensor.type(), tensor.data(), e));
  return out;
}

}  // namespace stria
