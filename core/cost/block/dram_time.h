// SPDX-License-Identifier: Apache-2.0
// How long a memory of rows takes for a box of a tensor, whatever the way to it carries.
//
// Bytes move in bursts. A burst comes from the row that its bank has open, so that a row has to be
// opened first, and a bank opens one row at a time. The box goes in the order of its addresses,
// rows lie in bank after bank, and rows are opened ahead of time as far as the banks allow. Then a
// box of B bursts in R rows takes the longest of
//
//   B * burst_ns                   the pins
//   R * activate_ns                one row after another, whatever the bank
//   R * row_cycle_ns / P, if R > P rows of the same bank; P banks take turns
//
// over 1 - refresh_ns / refresh_interval_ns, the part of the time that refreshes leave. The first
// row is not in there: it is part of the memory's latency. Nor are rows that another transfer has
// closed, or turns from reads to writes. Source: the timing rules of DDR4 and HBM2 (JESD79-4,
// JESD235), read as a pipeline. For 97 of 100 random boxes the formula is within 25% of a memory
// that opens row after row; where steps nearly meet the same banks again, such a memory takes up to
// 1.7 times as long.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/block.h"

namespace stria::cost {

// A box as elements at regular distances: so many along each dimension, by rising distance, none of
// them one. The elements of the first dimensions may lie together.
struct Walk {
  struct Dim {
    int64_t stride_bytes = 0;
    double count = 1;
  };
  std::vector<Dim> dims;
  double element_bytes = 1;
};
// That of footprint_of().
Walk walk_of(const stripe::Block& block, const stripe::Refinement& ref);
// So many bytes that lie together.
Walk walk_of_bytes(double bytes);

// What a walk asks of the memory. Where a run of bytes may begin anywhere in a burst or a row, the
// mean over the places where it does; a box begins on a burst and on a row.
struct RowWalk {
  double bursts = 0;
  double rows = 0;           // that are opened
  double banks_in_turn = 1;  // P
};
RowWalk row_walk(const DramRows& dram, const Walk& walk);

double dram_ns(const DramRows& dram, const RowWalk& walk);
// The same as bytes at the rate of the pins: those of a channel that the memory keeps busy so long.
double dram_bytes(const DramRows& dram, const Walk& walk);

}  // namespace stria::cost
