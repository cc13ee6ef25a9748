// SPDX-License-Identifier: Apache-2.0
// What Vulkan has no question for: the clock under load, how much local memory the groups on a
// compute unit have together, how fast subgroups multiply matrices, and what a small kernel takes
// in a batch. Measured once, when the device is opened for the first time, and kept in a file of
// the user's for later processes.
//
// Not thread-safe as to one device; devices may be measured at the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "context.h"
#include "stria/base/status.h"

namespace stria::vulkan {

struct MeasuredRates {
  double clock_mhz = 0;  // at which the model's multiply-adds give the measured rate
  double launch_us = 0;  // each of many dependent kernels in a batch
  int64_t unit_KiB = 0;  // local memory of all groups on one unit
  // From one product to the next on one subgroup, by the instruction's name, in cycles of
  // clock_mhz where as many subgroups as the model's are at work.
  std::map<std::string, double> matrix_cycles;
  bool complete = false;  // nothing was left out for want of time, or because something failed
};  // 0: not measured

// About 0.1 s, and half a second at most besides what the driver takes to build the kernels; what
// is not begun after `limit` is left out. Never fails: what cannot be measured is left out. The
// number of units and their multiply-adds in a cycle are those of `context`'s model in
// `plugin_folder`; without the driver's own number of units there is neither clock nor local
// memory nor a rate of matrices, and without its timestamps there is nothing.
MeasuredRates measure_device_rates(Context& context, const std::filesystem::path& plugin_folder,
                                   std::chrono::milliseconds limit);

// What rates depend on, as one line of text: this plugin's version, the device and its driver.
std::string device_rates_key(const FoundDevice& device);

// The rates kept in `folder` under `key`; a file that is missing, damaged or of another key gives
// nullopt.
std::optional<MeasuredRates> read_device_rates(const std::filesystem::path& folder,
                                               const std::string& key);
// Keeps them, whole or not at all; makes the folder if need be.
Status write_device_rates(const std::filesystem::path& folder, const std::string& key,
                          const MeasuredRates& rates);

// The rates kept or, if `may_measure`, measured and kept. nullopt where they could not be kept:
// each process would find others. Rates that are not complete are used, and not kept.
std::optional<MeasuredRates> device_rates(Context& context,
                                          const std::filesystem::path& plugin_folder,
                                          const std::filesystem::path& folder, bool may_measure);

// A device's properties (an object of JSON, as properties of DeviceInfo) with what was measured.
std::string with_rates(const std::string& properties, const MeasuredRates& rates);

}  // namespace stria::vulkan
