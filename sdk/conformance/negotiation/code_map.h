// SPDX-License-Identifier: Apache-2.0
// Where this process has code.
#pragma once

#include <cstdint>
#include <vector>

namespace stria::conformance {

class CodeMap {
 public:
  // Of what is mapped now.
  CodeMap();
  // Whether `address` may be called. True where the system does not tell.
  bool has(const void* address) const;

 private:
  struct Range {
    uintptr_t begin, end;
  };
  std::vector<Range> ranges_;
};

}  // namespace stria::conformance
