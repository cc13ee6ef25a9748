// SPDX-License-Identifier: Apache-2.0
// The layer tables of SCALE-Sim, and what a systolic array takes for them.
//
// A table is comma-separated values (table_text.h) whose first line names the columns, in any
// order:
//   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter,
//       Strides
//   Layer, M, N, K
// and a column Sparsity, whose layers are all dense (1:1).
#pragma once

#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/cost/block/block_work.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::sim {

struct TopologyLayer {
  std::string name;
  cost::Product product;  // of a convolution: output points, filters, elements of a filter
};

// invalid_argument with file, line, column and the name of the table's column, 20 mistakes at most:
// no names of columns, or an unknown, doubled or missing one; a cell that is no number from 1 to
// 10^9, is missing or belongs to no column; a filter larger than its input; no layer at all.
Result<std::vector<TopologyLayer>> read_topology(const SourceText& file);

// "32x16" and "os", "ws" or "is".
Result<SystolicArray> parse_array(const std::string& sides, const std::string& dataflow);

// A line for each layer and one for all: cycles and how much of the array they use.
std::string topology_table(const std::vector<TopologyLayer>& layers, const SystolicArray& array);

}  // namespace stria::sim
