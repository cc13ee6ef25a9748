// SPDX-License-Identifier: Apache-2.0
// The valid index set of a contraction: exact ranges of its indices and the constraints that the
// box of these ranges does not imply.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/status.h"
#include "stria/poly/affine.h"
#include "stria/tile/bind/form.h"

namespace stria::tile {

struct DomainRules {
  std::vector<std::string> indices;  // sorted, each once
  std::vector<Affine> at_least_zero;
  std::vector<Form> whole;  // forms whose division must be exact
};

struct IndexDomain {
  bool empty = false;
  std::vector<std::string> unbounded;  // not empty: nothing below is set
  std::vector<Interval> ranges;        // one per index; 0..0 if empty
  std::vector<Affine> constraints;     // each >= 0, in the order of the rules; none if empty
};

// The solver's answers, by question: inlined calls often ask the same.
struct DomainAnswers {
  std::map<std::string, IndexDomain> domains;
  std::map<std::string, bool> once;
};

// Exact. Failures: unknown (over the solver's budget), out_of_range. `known` may be null.
Result<IndexDomain> find_domain(const DomainRules& rules, DomainAnswers* known = nullptr);

// Do different points of the valid set have different values of `map`? The ranges are those that
// find_domain found.
Result<bool> writes_each_once(const DomainRules& rules, const IndexDomain& domain,
                              const std::vector<Affine>& map, DomainAnswers* known = nullptr);

}  // namespace stria::tile
