// SPDX-License-Identifier: Apache-2.0
// Makes expressions of the kernel tree. Constants fold here, so that unrolled code is small and
// every emitter sees the same text; the operands' types must already agree.
#pragma once

#include <optional>

#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

inline bool is_comparison(Op op) {
  return op == Op::eq || op == Op::ne || op == Op::lt || op == Op::le;
}

ExprRef constant(const Scalar& value, int lanes = 1);
ExprRef integer(DataType type, int64_t value, int lanes = 1);
ExprRef variable(int var, Type type);
ExprRef iota(DataType type, int lanes);
ExprRef unary(Op op, ExprRef a);
// Scalar operands of a vector operation are broadcast.
ExprRef binary(Op op, ExprRef a, ExprRef b, bool reassociate = false);
// The same integer operation, known not to wrap.
ExprRef exact(ExprRef operation);
ExprRef fma(ExprRef a, ExprRef b, ExprRef c);
ExprRef select(ExprRef condition, ExprRef a, ExprRef b);
// The larger (Op::max) or smaller (Op::min) of two floats; NaN if one is NaN. Comparisons and
// selections, of which the outer one is marked `reassociate`.
ExprRef float_extreme(Op op, ExprRef a, ExprRef b);
ExprRef convert_to(DataType type, ExprRef a);
// The bits of `a` as a number of `type`, which is as wide; neither is bool.
ExprRef reinterpret(DataType type, ExprRef a);
ExprRef broadcast(ExprRef a, int lanes);
ExprRef reduce(Op op, ExprRef a);
ExprRef lane(ExprRef a, int number);
ExprRef call(std::string callee, std::vector<ExprRef> args);

bool is_constant(const ExprRef& a);
bool is_integer_constant(const ExprRef& a, int64_t value);
// What float_extreme made of its operands `a` and `b`.
struct FloatExtreme {
  Op op;
  ExprRef a, b;
};
std::optional<FloatExtreme> as_float_extreme(const Expr& e);
// The same tree, node by node.
bool same(const ExprRef& a, const ExprRef& b);

}  // namespace stria::semtree
