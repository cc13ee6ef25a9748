// SPDX-License-Identifier: Apache-2.0
// What must hold of a scheduled part whatever its values: it fits into the memories, nothing is
// read before it is written, and statements that run at once do not touch what one of them writes.
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

// out_of_range: the model says that something is 0 without which no machine works: a clock, the
// size of a memory, the rate of a unit; or a bus has no width. What else it does not say is not
// looked at.
Status check_model(const HardwareModel& model);

// out_of_range: a tensor reaches beyond its memory; which one, which memory, by how many bytes.
// Checks the part's allocations and those inside its kernels, so many times as a pipeline has them.
Status check_capacity(const stripe::Program& program, const HardwareModel& model);

// invalid_argument: a statement reads an allocation of the part before anything has been written to
// it, or two statements overlap in time (or the later one ends before the earlier one starts) that
// touch the same bytes, one of them writing, without an order between them. Names both.
Status check_order(const stripe::Program& program, const stripe::Block& part,
                   const std::vector<StatementSpan>& spans);

}  // namespace stria::sim
