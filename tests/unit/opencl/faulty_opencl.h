// SPDX-License-Identifier: Apache-2.0
// Faults of the loader in faulty_opencl.cc, one at a time: its variable `stria_opencl_fault`. How
// many arguments of kernels have been set: `stria_opencl_arguments_set`; kernels given to a queue:
// `stria_opencl_kernels`, and those of which an event was asked for: `stria_opencl_kernel_events`;
// events of the host that have not ended: `stria_opencl_open_events`.
#pragma once

#include <atomic>

enum OpenClFault : int {
  kNoFault,
  kNoPlatform,       // the loader knows no driver
  kNoDevice,         // no driver has a device
  kNoMemory,         // a buffer cannot be allocated
  kRejects,          // the driver refuses to build
  kRefusesLaunches,  // a kernel has more work items than the driver takes
  kHangs,            // commands never end
  kLost,             // commands fail, and the device does not finish
  kRunsOn,           // what follows a failed command is run
  kRunsOnAfterOne,   // so, and the second kernel from now on fails
  kRefusesFailures,  // no event of the host may fail
};
