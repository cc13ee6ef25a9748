// SPDX-License-Identifier: Apache-2.0
// A compiled program: kernels in C, and those that the host interprets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shared_object.h"
#include "stria/sdk/host.h"
#include "stria/sdk/library.h"

namespace c_generator {

// One kernel of the program, whoever runs it.
struct ProgramKernel {
  stria::sdk::KernelInfo info;    // `interpreted` says why C cannot have it
  stria_c_kernel code = nullptr;  // null: interpreted
  uint64_t points = 0;            // that may run at once
};

class CKernel final : public stria::sdk::Kernel {
 public:
  CKernel(const stria::sdk::Host& host, std::shared_ptr<const SharedObject> object,
          const ProgramKernel& kernel)
      : host_(host), object_(std::move(object)), code_(kernel.code), points_(kernel.points) {}
  void run(const stria_memory* arguments, uint64_t count) const override;

 private:
  const stria::sdk::Host& host_;
  std::shared_ptr<const SharedObject> object_;  // has the code
  stria_c_kernel code_;
  uint64_t points_;
};

class CLibrary final : public stria::sdk::Library {
 public:
  // `interpreted` is null if no kernel needs it.
  CLibrary(const stria::sdk::Host& host, std::vector<ProgramKernel> kernels, std::string text,
           std::shared_ptr<const SharedObject> object,
           std::unique_ptr<const stria::sdk::HostProgram> interpreted);
  const std::vector<stria::sdk::KernelInfo>& kernels() const override { return infos_; }
  stria::sdk::Ref<stria::sdk::Kernel> prepare(uint64_t index) override;
  std::vector<stria::sdk::NamedText> source() const override { return {{"kernels.c", text_}}; }

 private:
  const stria::sdk::Host& host_;
  std::vector<ProgramKernel> kernels_;
  std::vector<stria::sdk::KernelInfo> infos_;
  std::string text_;
  std::shared_ptr<const SharedObject> object_;
  std::unique_ptr<const stria::sdk::HostProgram> interpreted_;
};

}  // namespace c_generator
