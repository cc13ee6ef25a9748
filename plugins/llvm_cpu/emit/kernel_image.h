// SPDX-License-Identifier: Apache-2.0
// Compiled kernels as bytes, for a cache: what there is to know of each kernel, and the objects.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emit/compiled_kernels.h"

namespace stria::llvm_cpu {

struct KernelImage {
  std::vector<CompiledKernel> kernels;         // without entries and dumps
  std::vector<std::string> symbols;            // of each; several may share one
  std::map<std::string, std::string> objects;  // by symbol
};

std::string write_image(const KernelImage& image);
// invalid_argument for bytes that write_image has not made: everything is checked but the objects.
Result<KernelImage> read_image(std::string_view bytes);

}  // namespace stria::llvm_cpu
