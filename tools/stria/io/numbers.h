// SPDX-License-Identifier: Apache-2.0
// Tensors of a few numbers that stand on the command line: "16000", "1,3,640,640", "0.5", "true".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/type/host_tensor.h"

namespace stria {

// The parts between commas, if each is a number (number_text.h), `true` or `false`; else none.
std::optional<std::vector<std::string>> split_numbers(std::string_view text);

// The sizes that numbers have by themselves where an input has `rank` dimensions (none: not said):
// one number fits rank 0 and 1, several fit rank 1. None if that does not say the sizes.
std::optional<std::vector<int64_t>> sizes_of_numbers(size_t count, std::optional<size_t> rank);

// Several numbers are the elements in order, one number is every element. invalid_argument for a
// number that `type` does not have, and if their count is another than that of `sizes`; `what`
// names the tensor.
Result<HostTensor> number_tensor(const std::vector<std::string>& numbers, DataType type,
                                 const std::vector<int64_t>& sizes, std::string_view what);

}  // namespace stria
