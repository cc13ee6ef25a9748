// SPDX-License-Identifier: Apache-2.0
// Device Stripe -> the kernels of a program, and each kernel -> one SPIR-V module.
//
// A module has one entry point, "main", of one GLCompute kernel. Its arguments are device addresses
// (buffer device address), 8 bytes each, in the order of `arguments`: as push constants from byte 0
// on or, if they do not fit there (`addresses_in_buffer`), in memory whose address is the first
// push constant. There are no descriptors. An argument's address is that of its first element (the
// buffer's address plus the argument's offset).
//
// A kernel that may be dispatched in parts (`takes_base_group`) adds the base group to the number
// of each group: the numbers of a part's first group, 3 words, the last push constants. They come
// so and not by vkCmdDispatchBase, for NVIDIA's shader cache (driver 580.159) takes a pipeline with
// VK_PIPELINE_CREATE_DISPATCH_BASE_BIT for one without: it looks at the module alone, and each part
// ran the kernel's first groups. Here the two are different modules. A kernel that no plan cuts has
// neither the words nor the additions: nothing is cut on most devices (context.h).
//
// Thread-safe: plain functions of their arguments.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emit/features.h"
#include "stria/base/status.h"
#include "stria/semtree/build/kernels.h"
#include "stria/semtree/c/program_source.h"
#include "stria/stripe/block.h"

namespace stria::vulkan {

inline constexpr uint32_t kAddressBytes = 8;
inline constexpr uint32_t kBaseGroupBytes = 12;

struct KernelCode {
  std::string name;    // of the kernel block; may be empty
  std::string symbol;  // "k3_conv": unique in the program
  bool in_prologue = false;
  int64_t statement = 0;
  int64_t group_lanes = 1;                    // of one group (LocalSize x; y and z are 1)
  std::array<int64_t, 3> groups = {1, 1, 1};  // to dispatch; one may be 0: nothing to do
  std::vector<semtree::KernelArgument> arguments;
  // Lanes of the subgroups that hold matrices together; 0: none do on this device.
  int64_t matrix_lanes = 0;
  int64_t shared_bytes = INT64_MAX;  // that a group has at most
  bool takes_base_group = false;
  bool addresses_in_buffer = false;
  // Matrices that may not go straight to and from aligned tensors go by patches
  // (matrix_patches.h).
  semtree::Function function;
  // The same before that, if it has matrices: for tensors at any offset others go by patches.
  std::optional<semtree::Function> without_patches;
  std::string semtree;  // printed, if asked for
};

// Of all push constants together.
uint32_t push_bytes(const KernelCode& kernel);

// The limits that the kernel tree is built within: vectors of 2, 4, … lanes, 32-bit indices where
// they suffice.
semtree::SourceOptions source_options(const Limits& limits);

// Statements of prologue, then of main. Fails with `unsupported` or `out_of_range` and names the
// kernel; for what the device lacks, it names the type, the Vulkan feature and the device.
Result<std::vector<KernelCode>> build_kernels(const stripe::Program& program,
                                              const Features& features,
                                              const semtree::SourceOptions& options);

// The module's words. `any_offset`: an argument's first element may lie at any multiple of its
// size; otherwise each lies at a multiple of semtree::kMemoryAlignment bytes. Fails as
// build_kernels does; for any offset, a kernel with matrices may need more memory that lanes share.
Result<std::vector<uint32_t>> emit(const KernelCode& kernel, const Features& features,
                                   bool any_offset = false);

// The module but for names of what is in it, and for its entry point: two kernels for which it is
// equal are one.
std::vector<uint32_t> without_names(std::span<const uint32_t> words);

// The module as text, one instruction a line, for golden tests and people. invalid_argument if the
// words are no module.
Result<std::string> disassemble(std::span<const uint32_t> words);

}  // namespace stria::vulkan
