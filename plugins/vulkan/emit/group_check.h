// SPDX-License-Identifier: Apache-2.0
// Is every dispatch one that the device takes, and that runs every point of its kernel once? Asked
// of what will be emitted, whoever made it, before any of it is.
//
// Vulkan's rules for a pipeline whose subgroup size is asked for (pipelines.cc): the lanes of a
// group are at most that size times maxComputeWorkgroupSubgroups (Limits::group_lanes has it), and
// the last subgroup of a group may have lanes that do nothing, unless all are asked to be whole.
// Kernels of single lanes and barriers do not mind. Instructions (semtree::Instruction) and
// operations on matrices do: all lanes of a subgroup run them together.
//
// Thread-safe: plain functions of their arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/features.h"
#include "emit/program.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria::vulkan {

// The unit of the hardware model that is a subgroup.
inline constexpr const char* kSubgroupUnit = "SUBGROUP";

// Lanes that do nothing in a group's last subgroup. 0: its subgroups are whole.
int64_t idle_lanes(int64_t group_lanes, int64_t subgroup_lanes);

// The first statement that the lanes of a subgroup run together; null: lanes are on their own, and
// a subgroup need not be whole.
const semtree::Statement* subgroup_operation(const semtree::Function& function);

// `subgroup_lanes`: what every pipeline is built with; 0: the driver chooses it. out_of_range, with
// the kernel, the value, the limit, the device and the subgroup size, if a group has too many lanes
// or shares too much memory, or if there are too many groups. unsupported if the kernel uses
// subgroups whose size is not known, or that are not whole, or of which only a part comes to an
// operation. internal if the dispatch leaves points of the kernel out, or has groups of another
// shape than the kernel's own.
Status check_group(const KernelCode& kernel, const Features& features, const Limits& limits,
                   int64_t subgroup_lanes);

// Lanes in one `SUBGROUP` of the kernel's lane blocks are those of the device's subgroup;
// unsupported otherwise. A kernel that does not name the unit passes.
Status check_units(const stripe::Block& kernel, const Features& features, int64_t subgroup_lanes);

// Both, of all kernels of a program. `kernels` is what build_kernels made of it.
Status check_groups(const stripe::Program& program, const std::vector<KernelCode>& kernels,
                    const Features& features, const Limits& limits, int64_t subgroup_lanes);

}  // namespace stria::vulkan
