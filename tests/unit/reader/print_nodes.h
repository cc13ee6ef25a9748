// SPDX-License-Identifier: Apache-2.0
// A kernel's nodes as the text of stria_reader_tree_text, written in C from stria/tree.h alone:
// what the nodes lack, the text would lack.
#ifndef STRIA_PRINT_NODES_H
#define STRIA_PRINT_NODES_H

#include "stria/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

// How often each kind occurred, by its number.
typedef struct node_counts {
  uint64_t statements[STRIA_TREE_MICRO_KERNEL + 1];
  uint64_t expressions[STRIA_TREE_CALL + 1];
  uint64_t operations[STRIA_TREE_SELECT + 1];
  uint64_t vectors;  // expressions of several lanes
} node_counts;

// Where the text goes, piece by piece, each with a zero behind it. Numbers of floats have a form of
// the caller's.
typedef struct node_sink {
  void* state;
  void (*text)(void* state, const char* text);
  void (*number)(void* state, stria_data_type type, double number);
  node_counts* counts;
} node_sink;

void print_nodes(const stria_tree_view* view, const stria_tree_nodes* nodes, const node_sink* to);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STRIA_PRINT_NODES_H
