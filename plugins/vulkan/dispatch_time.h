// SPDX-License-Identifier: Apache-2.0
// How long a dispatch may take at most, as far as that can be said before it has run: a count of
// the kernel's work, over what the hardware model says of the device.
#pragma once

#include <cstdint>

#include "emit/program.h"
#include "stria/hwmodel/hardware_model.h"

namespace stria::vulkan {

// What the lanes of one group do together. A branch counts as taken. A loop counts as often as its
// bounds allow, whatever the variables in them; once, if nothing is known of them.
struct GroupWork {
  double operations = 0;  // a multiply-add is one; slower ones count as several
  double bytes = 0;       // of tensors, without any caches
  double iterations = 0;  // of all loops, by one lane
};
GroupWork work_of_group(const KernelCode& kernel, const GroupFacts& facts);

// What all of a device does together, by its model.
struct ModelRates {
  double operations_per_ns = 0;  // 0: not known
  double bytes_per_ns = 0;       // 0: not known
  int64_t units = 1;             // groups that run at the same time at least
  GroupFacts facts;              // what slow operations take; the part of the rates that is reached
};
ModelRates rates_of(const HardwareModel& model);

// Nanoseconds that a group adds to a dispatch of many groups; 0 if no rate is known.
double predicted_group_ns(const GroupWork& work, const ModelRates& rates);

}  // namespace stria::vulkan
