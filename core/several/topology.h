// SPDX-License-Identifier: Apache-2.0
// How fast bytes move between devices, and which way: by a copy of their own where they share a
// driver (a peer copy), or through the host's memory. Measured, not assumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/runtime/device.h"

namespace stria {

// What moving takes: `latency_s`, and a second for each `bytes_per_s` bytes. Plain value.
struct STRIA_API MoveRate {
  double bytes_per_s = 0;  // 0: it cannot be done, or is not measured
  double latency_s = 0;
  bool known() const { return bytes_per_s > 0; }
  double seconds(uint64_t bytes) const;
};

enum class MoveWay { peer, host };
// "peer copy", "host".
STRIA_API std::string_view name_of(MoveWay way);

// From one device to another. Plain value.
struct STRIA_API DeviceLink {
  size_t from = 0, to = 0;  // positions in the list of devices
  bool reaches = false;     // one of the two copies from and to the other's memory
  MoveRate peer;            // known only if it does
  MoveRate host;            // out of the one and into the other
  // The quicker one for so many bytes.
  MoveWay way(uint64_t bytes) const;
};

// Plain value.
struct Topology {
  std::vector<MoveRate> to_device, to_host;  // of each device: host to device, device to host
  std::vector<DeviceLink> links;             // of each ordered pair of two different positions
};

// Plain value.
struct TopologyOptions {
  // What was measured by an earlier process is taken from the user's cache folder, where rates are
  // kept by plugin, device and driver. True: it is measured again.
  bool again = false;
};

// Rates between all of the devices and the host, as a caller gets them: with the copy between the
// application's memory and what the driver needs. Measured one after the other, on 16 MiB that are
// allocated for that on each; a few milliseconds for each rate. Fails where a device fails.
STRIA_API Result<Topology> measure_topology(std::span<const Device> devices,
                                            const TopologyOptions& options = {});
// The same of two devices alone.
STRIA_API Result<DeviceLink> measure_link(const Device& from, const Device& to,
                                          const TopologyOptions& options = {});
// Host to device.
STRIA_API Result<MoveRate> measure_to_device(const Device& device,
                                             const TopologyOptions& options = {});

// Copies a tensor of one device into another one of the same type and sizes on another device, and
// returns when that is done (host) or under way (peer copy; the event may be waited for). Orders
// itself with other work on both, as runs do. unsupported for a peer copy between devices that do
// not reach each other.
STRIA_API Result<Event> copy_tensor(const Device& from_device, const Tensor& from,
                                    const Device& to_device, const Tensor& to, MoveWay way);

}  // namespace stria
