// SPDX-License-Identifier: Apache-2.0
// A tensor of the host in another type.
#pragma once

#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria {

// Each element converted (scalar.h). out_of_memory if the host has no room.
Result<HostTensor> converted(const HostTensor& tensor, DataType type);

}  // namespace stria
