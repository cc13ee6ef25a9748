// SPDX-License-Identifier: Apache-2.0
// A random graph of fills, copies, mappings and host events, some of which fail, and a model of
// what it must do: which nodes fail with which cause, and what the buffers hold in the end.
//
// Nodes that touch the same bytes are ordered by waits, sometimes only through others; nothing else
// is. So whatever order a right plugin takes, the end is that of the nodes one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/bench.h"

namespace stria::conformance {

struct GraphOptions {
  uint32_t seed = 1;
  int nodes = 40;
  bool failures = false;        // some host events fail
  bool ends = false;            // some waits are for event.end
  bool mappings = false;        // some nodes are written by the host, in callbacks
  bool signal_threads = false;  // two threads signal the host events
};

struct GraphNode {
  enum class What { host, fill, copy, map };
  struct Wait {
    size_t node = 0;
    bool end = false;  // for its end, whatever became of it
  };
  What what = What::host;
  size_t executor = 0;
  size_t source = 0, target = 0;  // buffers
  uint64_t source_offset = 0, target_offset = 0, bytes = 0;
  Bytes written;  // the pattern of a fill; what the host writes
  Bytes found;    // what the host finds before it writes
  std::vector<Wait> waits;
  bool fails = false;  // a host event that is signalled with its own failure
  int cause = -1;      // the host event whose failure it ends with; -1: it is done and well
};

struct GraphPlan {
  std::vector<GraphNode> nodes;
  std::vector<Bytes> before, after;  // of each buffer
  std::vector<size_t> signal_order;  // of the host events
};

GraphPlan make_plan(const GraphOptions& options, size_t executors);
// Runs it on the device and compares.
Status run_graph(const Bench& bench, const GraphOptions& options);

}  // namespace stria::conformance
