// SPDX-License-Identifier: Apache-2.0
// A chain of kernels as a program in C asks a driver for it, without stria. When the driver refuses
// something, the benchmark says why and ends with 3.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stria/hal/device.h"

namespace stria::bench {

// R = A + A over so many floats, one group, again and again: each kernel after the one before.
class DriversChain {
 public:
  virtual ~DriversChain() = default;
  // Starts all of them and waits for the last one.
  virtual void run() = 0;
  // Is its kernel the one that a plugin's library says it has, where both are of one code? Ends the
  // benchmark if not.
  virtual void must_be(const hal::Library& library) const { (void)library; }
};

// What is printed beside the times, and whether they reach it; 0: no goal.
struct ChainGoals {
  double us = 0;     // of each kernel, less than that
  double ratio = 0;  // ours over the driver's, at most
};

// One device of a driver; its chains go before it does.
class ChainDriver {
 public:
  virtual ~ChainDriver() = default;
  virtual const std::string& name() const = 0;
  virtual bool is(const hal::DeviceInfo& listed) const = 0;
  virtual ChainGoals goals() const = 0;
  virtual std::unique_ptr<DriversChain> chain(uint32_t kernels, int64_t count) = 0;
};

// The first device whose name holds the text.
std::unique_ptr<ChainDriver> open_opencl_chains(const std::string& text);
std::unique_ptr<ChainDriver> open_vulkan_chains(const std::string& text);

}  // namespace stria::bench
