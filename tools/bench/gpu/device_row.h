// SPDX-License-Identifier: Apache-2.0
// A program that is built for a device, with tensors to run it on.
#pragma once

#include <cstdint>
#include <vector>

#include "stria/runtime/busy_device.h"
#include "stria/runtime/runtime.h"

namespace stria::bench {

// As many runs in a row as the peers have in one graph.
inline constexpr uint32_t kInARow = 20;

class DeviceRow {
 public:
  // Inputs are normally distributed, a million values over and over.
  DeviceRow(const Device& device, Executable made);
  // Of the same inputs and outputs, on the tensors of `other`: where a tensor lies in the memory of
  // a device makes a difference of its own.
  DeviceRow(Executable made, const DeviceRow& other);

  Event run() const;
  // Milliseconds of one of so many runs in a row, by the device's clock: as a program starts them,
  // or queued while the device is still at other work, so that it does not wait for the host.
  double ms(uint32_t in_a_row) const;
  double ms_queued(uint32_t in_a_row, BusyDevice& busy) const;

 private:
  Executable made_;
  std::vector<Tensor> inputs_, outputs_;
  mutable double queue_ns_ = 0;  // that the host took to queue the last runs
};

// kInARow, or 1 for a row of which one run takes so long.
inline uint32_t runs_in_a_row(double one_run_ms) { return one_run_ms < 20 ? kInARow : 1; }

}  // namespace stria::bench
