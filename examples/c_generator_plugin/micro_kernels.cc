// SPDX-License-Identifier: Apache-2.0
#include "micro_kernels.h"

#include <string>

#include "product_8x8.h"
#include "stria/sdk/error.h"

namespace c_generator {

const std::vector<MicroKernel>& micro_kernels() {
  static const std::vector<MicroKernel> all = {{"product_8x8", product_8x8}};
  return all;
}

stria_micro_kernel find_micro_kernel(std::string_view name) {
  for (const MicroKernel& one : micro_kernels())
    if (one.name == name) return one.function;
  throw stria::sdk::Error(STRIA_NOT_FOUND, "the program calls the micro-kernel '" +
                                               std::string(name) + "', which this plugin lacks");
}

}  // namespace c_generator
