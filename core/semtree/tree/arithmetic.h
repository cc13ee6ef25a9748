// SPDX-License-Identifier: Apache-2.0
// The rules of meaning of scalar operations, written once for all emitters: what each builtin is in
// terms of the kernel tree's operations, and how aggregations combine.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/semtree/tree/tree.h"
#include "stria/stripe/block.h"

namespace stria::semtree {

// Gives an expression a name, so that it may be used several times: returns the variable.
using Namer = std::function<ExprRef(ExprRef)>;

// The intrinsic `name.type(operands)`, operands of any type. An operation type of fp16 or bf16
// computes in fp32 and rounds. The result's type is result_type of the builtin (fp32 for fp16 and
// bf16).
Result<ExprRef> intrinsic(std::string_view name, DataType type,
                          const std::vector<ExprRef>& operands, const Namer& named);

// a and b of one type; sums and products may be regrouped.
ExprRef combine(stripe::AggOp op, const ExprRef& a, const ExprRef& b);
// The operation that `reduce` uses on lanes of `type`.
Op reduction(stripe::AggOp op, DataType type);

}  // namespace stria::semtree
