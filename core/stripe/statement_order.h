// SPDX-License-Identifier: Apache-2.0
// Which statements of a block run before which.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stria/stripe/agents.h"
#include "stria/stripe/block.h"
#include "stria/stripe/tags.h"

namespace stria::stripe {

// Which statements of a block certainly run before which: by position, in a #deps block by the
// paths of its dependencies. Roles run beside each other, and what is asynchronous ends later.
class StatementOrder {
 public:
  explicit StatementOrder(const Block& block)
      : by_deps_(block.tags.has(tag::kDeps) || block.tags.has(tag::kRoles)) {
    for (size_t i = 0; i < block.stmts.size(); ++i)
      if (is_async(block.stmts[i])) async_.push_back(i);
    if (!by_deps_) return;
    size_t count = block.stmts.size();
    words_ = (count + 63) / 64;
    before_.assign(count * words_, 0);
    for (size_t i = 0; i < count; ++i) {
      for (int64_t dep : block.stmts[i].deps) {
        size_t d = static_cast<size_t>(dep);
        for (size_t w = 0; w < words_; ++w) before_[i * words_ + w] |= before_[d * words_ + w];
        before_[i * words_ + d / 64] |= uint64_t{1} << (d % 64);
      }
    }
  }
  bool runs_before(size_t a, size_t b) const {
    if (std::binary_search(async_.begin(), async_.end(), a)) return false;
    if (!by_deps_) return a < b;
    return before_[b * words_ + a / 64] >> (a % 64) & 1;
  }

 private:
  bool by_deps_;
  std::vector<size_t> async_;  // sorted
  size_t words_ = 0;
  std::vector<uint64_t> before_;  // row i: bit set of the statements that run before i
};

}  // namespace stria::stripe
