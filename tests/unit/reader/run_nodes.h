// SPDX-License-Identifier: Apache-2.0
// Runs a kernel from its nodes, written in C from stria/tree.h alone: what the header says of each
// kind is all that it knows. It is slow, and holds the tree to what the header promises.
#ifndef STRIA_RUN_NODES_H
#define STRIA_RUN_NODES_H

#include "stria/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

// How often each kind was run, by its number.
typedef struct run_counts {
  uint64_t statements[STRIA_TREE_MICRO_KERNEL + 1];
  uint64_t expressions[STRIA_TREE_CALL + 1];
  uint64_t operations[STRIA_TREE_SELECT + 1];
  uint64_t vectors;
} run_counts;

// All points, one after the other. What the tree did that it may not, or NULL. Not for kernels of
// groups of lanes. The text stays until the next call.
const char* run_nodes(const stria_tree_view* view, const stria_tree_nodes* nodes,
                      void* const* arguments, run_counts* counts);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRIA_RUN_NODES_H
