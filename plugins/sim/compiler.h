// SPDX-License-Identifier: Apache-2.0
// Device Stripe in; out come one kernel for all of #prologue and one for all of #main. The machine
// overlaps what their statements do, so that no smaller piece has a time of its own.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "stria/hwmodel/hardware_model.h"
#include "stria/sdk/library.h"
#include "values/part_values.h"

namespace stria::sim {

// What a kernel runs: the values of a part, in the order in which the machine starts its
// statements, and how long that takes there.
struct RunnablePart {
  stria_program_part part = STRIA_MAIN;
  PartValues values;
  std::vector<size_t> order;
  uint64_t cycles = 0;
  uint64_t nanoseconds = 0;  // 0: the model has no clock
  uint64_t picojoules = 0;   // 0: the model does not say what some operation takes
};

// Options: {"fast_math": false, "dump_source": false}; others are ignored. fast_math changes
// nothing.
class SimCompiler final : public sdk::Compiler {
 public:
  explicit SimCompiler(std::shared_ptr<const HardwareModel> model) : model_(std::move(model)) {}
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view options) override;
  // The same as what it is.
  std::vector<std::shared_ptr<const RunnablePart>> simulate(std::string_view stripe,
                                                            std::string_view options) const;

 private:
  std::shared_ptr<const HardwareModel> model_;
};

class SimLibrary final : public sdk::Library {
 public:
  using Part = std::shared_ptr<const RunnablePart>;
  explicit SimLibrary(std::vector<Part> parts);
  const std::vector<sdk::KernelInfo>& kernels() const override { return kernels_; }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override;

 private:
  std::vector<Part> parts_;
  std::vector<sdk::KernelInfo> kernels_;
};

class SimKernel final : public sdk::Kernel {
 public:
  explicit SimKernel(SimLibrary::Part part) : part_(std::move(part)) {}
  void run(const stria_memory* arguments, uint64_t count) const override;
  uint64_t nanoseconds() const { return part_->nanoseconds; }

 private:
  SimLibrary::Part part_;
};

}  // namespace stria::sim
