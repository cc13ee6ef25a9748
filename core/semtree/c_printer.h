// SPDX-License-Identifier: Apache-2.0
// The kernel tree as source text of a C-family language, spelled by a Dialect. One work item runs one
// parallel point. For each parameter `P` of the function a kernel has two: the memory object `P_base`, and
// `P_at`, the element of it (unsigned, 64 bits) at which the tensor starts.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "stria/base/status.h"
#include "stria/semtree/dialect.h"
#include "stria/semtree/tree.h"

namespace stria::semtree {

// Collects the kernels of one source text.
class CPrinter {
 public:
  explicit CPrinter(const Dialect& dialect) : dialect_(dialect) {}

  // Adds `function` as a kernel called `symbol`. Points are run in groups of `group_points`; those of the
  // last group that the function does not have do nothing. Fails with `unsupported`, naming what the
  // dialect lacks.
  Status add(const Function& function, const std::string& symbol, int64_t group_points);

  // Preamble, the helper functions in use, the kernels in the order they were added.
  std::string text() const;

 private:
  const Dialect& dialect_;
  std::set<std::string> known_helpers_;
  std::string helpers_;
  std::string kernels_;
};

}  // namespace stria::semtree
