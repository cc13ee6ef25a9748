// SPDX-License-Identifier: Apache-2.0
// The languages of the C family in which programs are printed, for tests of all of them.
#pragma once

#include <vector>

#include "cuda/emit/dialect.h"
#include "emit/dialect.h"
#include "stria/semtree/c/program_source.h"

namespace stria::semtree {

struct SourceLanguage {
  Dialect dialect;
  SourceOptions options;
};

inline std::vector<SourceLanguage> source_languages() {
  return {{opencl::dialect({.fp64 = true, .fma = true}), opencl::source_options()},
          {cuda::dialect(), cuda::source_options()}};
}

}  // namespace stria::semtree
