// SPDX-License-Identifier: Apache-2.0
// Library and Kernel: compiled functions, run over all cores.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emit/compiled_kernels.h"
#include "stria/sdk/host.h"
#include "stria/sdk/library.h"

namespace stria::llvm_cpu {

class CpuLibrary final : public sdk::Library {
 public:
  CpuLibrary(const sdk::Host& host, std::shared_ptr<const CompiledKernels> code);
  const std::vector<sdk::KernelInfo>& kernels() const override { return kernels_; }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override;
  std::vector<sdk::NamedText> source() const override;

 private:
  const sdk::Host& host_;
  std::shared_ptr<const CompiledKernels> code_;
  std::vector<sdk::KernelInfo> kernels_;
};

// Outlives its library: it shares the code.
class CpuKernel final : public sdk::Kernel {
 public:
  CpuKernel(const sdk::Host& host, std::shared_ptr<const CompiledKernels> code, uint64_t index)
      : host_(host), code_(std::move(code)), kernel_(code_->kernels()[index]) {}
  void run(const stria_memory* arguments, uint64_t count) const override;

 private:
  const sdk::Host& host_;
  std::shared_ptr<const CompiledKernels> code_;
  const CompiledKernel& kernel_;
};

}  // namespace stria::llvm_cpu
