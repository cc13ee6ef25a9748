// SPDX-License-Identifier: Apache-2.0
// The right plugin that mistakes are planted in: the SDK's defaults, but memory of the device that
// is mapped through copies of it, as that of most devices is. Hooks let a mistake in where the
// tables of slots cannot.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stria/sdk/plugin.h"

namespace stria::wrong {

namespace sdk = stria::sdk;

// What the plugin says of itself; the manifest says the same.
inline constexpr std::string_view kId = "wrong", kVersion = "1.0.0", kKind = "board";

// One run of a kernel.
struct KernelRun {
  const sdk::KernelInfo& info;
  // The element types of the program's tensors, by name: "fp32".
  const std::map<std::string, std::string, std::less<>>& types;
  const stria_memory* arguments;
  uint64_t& runs;  // of this kernel before this one
};

// What is wrong with mappings; all 0: nothing. Bytes.
struct MapFaults {
  uint64_t reads_from_behind = 0;  // so much behind the offset
  uint64_t reads_less = 0;         // the last so many are not read
  uint64_t writes_to_behind = 0;
  uint64_t writes_less = 0;
  uint64_t address_is_behind = 0;
  bool reads_nothing = false;
  bool writes_nothing = false;
  bool read_writes_back = false;  // the unmap of map_read
  bool discard_writes_nothing = false;
  bool failed_writes_back = false;
  bool is_ready_early = false;       // `done` before the contents are there
  bool unmap_is_done_early = false;  // `done` before the contents are taken
  bool shares_memory = false;        // one piece for all mappings of a buffer
};

struct Hooks {
  // The text that is interpreted instead of the one that is to be built.
  std::string (*misread)(std::string stripe) = nullptr;
  void (*list_kernels)(std::vector<sdk::KernelInfo>& kernels) = nullptr;
  // Instead of the kernel's work: true if there is nothing more to do.
  bool (*instead_of_run)(const KernelRun& run) = nullptr;
  void (*after_run)(const KernelRun& run) = nullptr;
  void (*estimate)(stria_estimate& estimate) = nullptr;
  MapFaults map;
};
// Filled in before the host gets any table.
Hooks& hooks();

class RightDriver final : public sdk::Driver {
 public:
  RightDriver(const sdk::Host& host, sdk::DriverOptions options);
  ~RightDriver() override;
  std::vector<sdk::DeviceInfo> enumerate() override;
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override;
};

// The hosts of the drivers that live, in the order in which those were made, and the last of them,
// null if there is none.
std::vector<const sdk::Host*> live_hosts();
const sdk::Host* last_host();

// The slots of the right plugin.
using Right = sdk::Tables<RightDriver>;

}  // namespace stria::wrong
