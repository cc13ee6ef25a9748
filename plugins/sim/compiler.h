// SPDX-License-Identifier: Apache-2.0
// Device Stripe in, one kernel for all of #prologue and one for all of #main out: the machine
// overlaps what they do, so that no smaller piece has a time of its own.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "stria/sdk/library.h"
#include "values/part_values.h"

namespace stria::sim {

// Options: {"fast_math": false, "dump_source": false}; others are ignored. fast_math changes
// nothing.
class SimCompiler final : public sdk::Compiler {
 public:
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view options) override;
};

class SimLibrary final : public sdk::Library {
 public:
  struct Part {
    stria_program_part part = STRIA_MAIN;
    std::shared_ptr<const PartValues> values;
  };
  explicit SimLibrary(std::vector<Part> parts);
  const std::vector<sdk::KernelInfo>& kernels() const override { return kernels_; }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override;

 private:
  std::vector<Part> parts_;
  std::vector<sdk::KernelInfo> kernels_;
};

class SimKernel final : public sdk::Kernel {
 public:
  explicit SimKernel(std::shared_ptr<const PartValues> values) : values_(std::move(values)) {}
  void run(const stria_memory* arguments, uint64_t count) const override;

 private:
  std::shared_ptr<const PartValues> values_;
};

}  // namespace stria::sim
