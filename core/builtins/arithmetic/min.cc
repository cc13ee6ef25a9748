// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/reference.h"

namespace stria::builtins {
extern const Builtin min;
constinit const Builtin min = {
    .name = "min",
    .spelling = nullptr,
    .arity = 2,
    .types = TypeRule::same,
    .reference = reference::signed_binary<[](double a, double b) {
      return (a < b) || std::isnan(a) ? a : b;
    },
                                          [](int64_t a, int64_t b) { return (a < b) ? a : b; },
                                          [](uint64_t a, uint64_t b) { return (a < b) ? a : b; }>,
    .ulp = {0, 0},
    .gradient = at_edges(derivative("cond(X == Y, DR / 2, cond(X < Y, DR, 0))",
                                    "cond(X == Y, DR / 2, cond(X > Y, DR, 0))"),
                         "equal operands share (M21)"),
    .doc =
        "The smaller operand; NaN if one is NaN. Which zero min(-0.0, 0.0) gives is not "
        "specified.",
    .example = "R = min(A, 0);",
    .cost = Cost::cheap,
    .idempotent = true,
    .joins = true,
};

}  // namespace stria::builtins
