// SPDX-License-Identifier: Apache-2.0
// What must hold for a scheduled part, whatever its values are: it fits into the memories; nothing
// is read before it is written; statements that run at once do not touch what one of them writes.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/base/status.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::sim {

// When a statement of the part begins and ends, ticks.
struct StatementSpan {
  uint64_t start = 0, end = 0;
};

// out_of_range: the model says 0 for something that no machine works without (a clock, the size of
// a memory, the rate of a unit), or a bus has no width. What the model does not say is not checked.
Status check_model(const HardwareModel& model);

// out_of_range: a tensor reaches beyond its memory; the message says which tensor, which memory and
// by how many bytes. Checks the part's allocations, and those inside its kernels as many times as a
// pipeline has them.
Status check_capacity(const stripe::Program& program, const HardwareModel& model);

// invalid_argument, with both names: a statement reads an allocation of the part before anything
// has been written to it; or two statements without an order between them overlap in time (or the
// later one ends before the earlier one starts) and touch the same bytes, and one of them writes.
Status check_order(const stripe::Program& program, const stripe::Block& part,
                   const std::vector<StatementSpan>& spans);

}  // namespace stria::sim
