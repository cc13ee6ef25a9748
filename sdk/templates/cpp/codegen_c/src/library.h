// SPDX-License-Identifier: Apache-2.0
// A compiled program: kernels with code, and those that the host interprets.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernel.h"
#include "vendor_compiler.h"

namespace acme_plugin {

// Loaded code; the kernels in it live as long.
class Code {
 public:
  // Throws stria::sdk::Error.
  explicit Code(const std::string& bytes);
  ~Code() { acme_code_unload(code_); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  acme_entry entry(const std::string& symbol) const;

 private:
  acme_code* code_ = nullptr;
};

// One kernel of the program, whoever runs it.
struct ProgramKernel {
  stria::sdk::KernelInfo info;  // `interpreted` says why it has no code
  acme_entry code{};            // 0: interpreted
  uint64_t points = 0;          // that may run at once
};

class CompiledKernel final : public AcmeKernel {
 public:
  CompiledKernel(const stria::sdk::Host& host, std::shared_ptr<const Code> owner,
                 const ProgramKernel& kernel)
      : host_(host), owner_(std::move(owner)), code_(kernel.code), points_(kernel.points) {}
  void launch(const std::vector<stria::sdk::Argument>& arguments) const override;

 private:
  const stria::sdk::Host& host_;
  const std::shared_ptr<const Code> owner_;  // of the code
  const acme_entry code_;
  const uint64_t points_;
};

class AcmeLibrary final : public stria::sdk::Library {
 public:
  // `interpreted` is null if no kernel needs it.
  AcmeLibrary(const stria::sdk::Host& host, std::vector<ProgramKernel> kernels, std::string text,
              std::shared_ptr<const Code> code,
              std::unique_ptr<const stria::sdk::HostProgram> interpreted);
  const std::vector<stria::sdk::KernelInfo>& kernels() const override { return infos_; }
  stria::sdk::Ref<stria::sdk::Kernel> prepare(uint64_t index) override;
  // What `stria compile --dump-dir` writes.
  std::vector<stria::sdk::NamedText> source() const override { return {{"kernels.c", text_}}; }

 private:
  const stria::sdk::Host& host_;
  const std::vector<ProgramKernel> kernels_;
  std::vector<stria::sdk::KernelInfo> infos_;
  const std::string text_;
  const std::shared_ptr<const Code> code_;
  const std::unique_ptr<const stria::sdk::HostProgram> interpreted_;
};

}  // namespace acme_plugin
