// SPDX-License-Identifier: Apache-2.0
// The device programs that are written by hand: templates over the sizes of their tensors, of which
// the files <name>.stripe are the printed sizes.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::device_programs {

using Sizes = std::map<std::string, int64_t>;  // {"N", 16}: those that are left out are as printed

// Path of a file of this folder.
std::string path_of(std::string_view file);
// <name>.template at these sizes, parsed.
Result<stripe::Program> make(std::string_view name, const Sizes& sizes = {});

}  // namespace stria::device_programs
