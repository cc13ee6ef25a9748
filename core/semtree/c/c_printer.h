// SPDX-License-Identifier: Apache-2.0
// The kernel tree as source text of a C-family language, spelled by a Dialect. One lane runs one
// parallel point. For each parameter `P` of the function the kernel has two: the memory object
// `stria_base_P`, and `stria_at_P` (unsigned, 64 bits), the element of it at which the tensor
// starts. source_names.h says what is called how.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "stria/base/status.h"
#include "stria/semtree/c/dialect.h"
#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

// Collects the kernels of one source text.
class CPrinter {
 public:
  explicit CPrinter(const Dialect& dialect);

  // Adds `function` as a kernel called `symbol`, and returns the kernel's text, which needs the
  // text of common(). Points run in groups of `group_points`; the points of the last group that the
  // function does not have do nothing. Fails with `unsupported`, naming what the dialect lacks, and
  // then adds nothing.
  Result<std::string> add(const Function& function, const std::string& symbol,
                          int64_t group_points);

  // Preamble and the helper functions that the kernels so far use.
  std::string common() const;

 private:
  const Dialect& dialect_;
  Status names_;  // the dialect's own are none of the program's
  std::set<std::string> known_helpers_;
  std::string helpers_;
};

}  // namespace stria::semtree
