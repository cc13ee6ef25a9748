// SPDX-License-Identifier: Apache-2.0
// Devices as plugins/vulkan sees them, without a driver, by the size of their subgroups; and what
// is asked of every kernel that is built for one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "dice.h"
#include "emit/features.h"
#include "emit/program.h"
#include "machine.h"

namespace stria::lanes {

struct VulkanMachine {
  Machine machine;
  vulkan::Features features;
  vulkan::Limits limits;
  int64_t subgroup = 0;  // lanes
};

// What a driver says of its device.
struct VulkanNumbers {
  bool is_software = false;
  int64_t subgroup = 32;
  int64_t group_lanes = 256;  // at most
  int64_t local_KiB = 32;
  int64_t groups = 65535;     // in each dimension, at most
  bool narrow_shared = true;  // elements of 8 and 16 bits in arrays that lanes share
  bool matrices = false;      // products of 16 x 16 halves, bf16 and bytes
  std::string text() const;
};
VulkanMachine vulkan_machine(const VulkanNumbers& numbers);

// One that nobody has built.
VulkanNumbers made_up_device(trust::Dice& dice);

// Subgroups of 4, 8, 16, 32, 64 and 128 lanes, with groups and memory that such devices have, and
// with groups of fewer lanes than a subgroup. `all`: every size of groups and of memory, too.
const std::vector<VulkanMachine>& vulkan_machines(bool all);

// What was seen of the kernels, so that a test can tell that it saw something.
struct TileCounts {
  RunCounts runs;
  int64_t kernels = 0;             // on all machines
  int64_t whole = 0;               // of groups that are whole subgroups
  int64_t with_matrices = 0;       // of subgroups; emitted
  int64_t parts = 0;               // of groups of lanes that meet, and are no whole subgroups
  int64_t programs = 0, same = 0;  // device programs; those that an earlier machine had as well
  void print() const;
};

// "", or what is wrong with a kernel of the device program as it will be dispatched: its groups,
// the memory that they share, points that are left out or run twice.
std::string wrong_dispatch(const VulkanMachine& on, const stripe::Program& device,
                           const std::vector<vulkan::KernelCode>& kernels, TileCounts& counts);

// Compiles the program and asks the above: "", or what is wrong.
std::string wrong_kernels(const VulkanMachine& on, const stripe::Program& generic, bool may_refuse,
                          TileCounts& counts);

// Compiles the program for each machine, asks the above, and runs what it was compiled to, lane by
// lane, unless that was run for an earlier machine: "", or the machine and what is wrong.
std::string wrong_on_any(const std::vector<VulkanMachine>& machines, passes::TileProgram& program,
                         uint64_t seed, bool may_refuse, TileCounts& counts);

}  // namespace stria::lanes
