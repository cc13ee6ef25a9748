// SPDX-License-Identifier: Apache-2.0
// The layer tables of SCALE-Sim, and what a systolic array takes for them.
//
// A table is comma-separated values with a head; a comma may stand at the end of a line. Two forms:
//   name, ifmap height, ifmap width, filter height, filter width, channels, filters, stride
//   name, M, N, K
#pragma once

#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/cost/block_work.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::sim {

struct TopologyLayer {
  std::string name;
  cost::Product product;  // of a convolution: output points, filters, elements of a filter
};

// invalid_argument with file and line: a field that is no positive number, too few of them, a
// filter larger than its input, no layer at all.
Result<std::vector<TopologyLayer>> read_topology(const SourceText& file);

// "32x16" and "os", "ws" or "is".
Result<SystolicArray> parse_array(const std::string& sides, const std::string& dataflow);

// A line for each layer and one for all: cycles and how much of the array they use.
std::string topology_table(const std::vector<TopologyLayer>& layers, const SystolicArray& array);

}  // namespace stria::sim
