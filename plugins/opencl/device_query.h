// SPDX-License-Identifier: Apache-2.0
// What the drivers say of their devices.
#pragma once

#include <string>
#include <vector>

#include "emit/dialect.h"
#include "loader.h"
#include "stria/sdk/info.h"

namespace stria::opencl {

struct FoundDevice {
  cl_device_id handle = nullptr;
  cl_platform_id platform = nullptr;  // whose driver it has
  sdk::DeviceInfo info;               // id "PLATFORM.DEVICE", both by their numbers
  Features features;
  bool may_have_half = false;     // arithmetic on half: it builds, or not
  bool correct_division = false;  // fp32 division and square root can be asked to round correctly
  bool failure_ends_all = false;  // after a failed command all else in its context fails, too
  bool is_pocl = false;           // PoCL has needs of its own (pocl_needs.h)
  bool out_of_order = false;      // a queue may run independent work at once
  uint64_t largest_allocation_bytes = 0;
  int64_t local_bytes = 0;    // of a group
  int64_t largest_group = 1;  // work items
  int64_t group_points = 1;
};

// Every device of every platform, in the drivers' order; those not available, with the reason. If
// there is no platform, one unavailable device says so. So does one for a platform that fails to
// list its devices, or that would end the process here (pocl_needs.h). `sysfs`: the folder in which
// the system describes its hardware. Opens nothing.
std::vector<FoundDevice> find_devices(const OpenCl& cl, const std::string& sysfs = "/sys");

// The entry that stands for all devices where none can be found.
FoundDevice no_device(const std::string& reason);

}  // namespace stria::opencl
