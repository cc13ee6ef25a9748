// SPDX-License-Identifier: Apache-2.0
// Tile on tensors of the host, by the interpreter: for what is computed when a program is made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria {

// The results of `function` of the Tile `text` for `inputs`, which are its parameters `names`.
Result<std::vector<HostTensor>> evaluate_tile(
    const std::string& text, const std::string& function, const std::vector<std::string>& names,
    const std::vector<std::shared_ptr<const HostTensor>>& inputs);

}  // namespace stria
