// SPDX-License-Identifier: Apache-2.0
// Library and Kernel: a program that the driver has built, and one function of it.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "command.h"
#include "context.h"
#include "program.h"
#include "stria/sdk/executor.h"
#include "stria/sdk/library.h"
#include "stria/semtree/c/program_source.h"

namespace stria::opencl {

// The text of one kernel, which those that differ in names alone share, and the program that the
// driver builds of it for arguments at any offset. Thread-safe.
class KernelText {
 public:
  KernelText(Context& context, std::string text, std::string options)
      : context_(context), text_(std::move(text)), options_(std::move(options)) {}
  // Whether it depends on where its arguments begin.
  bool needs_alignment() const;
  // Built when first asked for. Throws sdk::Error.
  cl_program for_any_offset();

 private:
  Context& context_;
  const std::string text_;
  const std::string options_;
  std::mutex mutex_;
  Program any_offset_;  // guarded by mutex_
};

class ClLibrary final : public sdk::Library {
 public:
  ClLibrary(Context& context, semtree::ProgramSource source, bool fast_math);
  ~ClLibrary() override;
  const std::vector<sdk::KernelInfo>& kernels() const override { return kernels_; }
  sdk::Ref<sdk::Kernel> prepare(uint64_t index) override;
  std::vector<sdk::NamedText> source() const override;

 private:
  // The kernel's place in codes_.
  size_t code_of(size_t kernel) const;
  // Which of the programs has that code.
  size_t part_of(size_t code) const { return code * programs_.size() / codes_.size(); }

  Context& context_;
  const semtree::ProgramSource source_;
  std::string options_;
  std::vector<sdk::KernelInfo> kernels_;
  std::vector<size_t> codes_;                       // kernels whose text is no other's
  std::vector<std::shared_ptr<KernelText>> texts_;  // of these
  std::vector<Program> programs_;  // each has as many of these in a row as the next
};

// Outlives its library: the driver counts references.
class ClKernel final : public QueuedKernel {
 public:
  const std::string& symbol() const override { return symbol_; }
  // `symbol`: for messages, whatever the function is called that others may run, too.
  ClKernel(Context& context, cl_program program, const semtree::SourceKernel& source,
           std::string symbol, std::shared_ptr<KernelText> text);
  ~ClKernel() override;

  // Sets the arguments and gives the kernel to the driver, as one step for other threads; if no
  // point has anything to do, it gives a marker. The first call with a tensor that begins at no
  // multiple of semtree::kMemoryAlignment builds the kernel once more, for any offset. Throws
  // sdk::Error with the driver's code for whatever the driver refuses, and with its log if that is
  // a build.
  void enqueue(cl_command_queue queue, const std::vector<sdk::Argument>& arguments, cl_uint count,
               const cl_event* waits, cl_event* event) const override;

 private:
  // The driver's kernel, with its present arguments: only those that change are set.
  struct Handle {
    cl_kernel kernel = nullptr;
    std::vector<std::pair<cl_mem, cl_ulong>> arguments;  // memory, first element
    uint64_t released_buffers = 0;  // the context's count then: handles may be in use again since
  };
  cl_kernel kernel_of(cl_program program) const;
  // Under mutex_, as the next.
  Handle& handle_for(const std::vector<sdk::Argument>& arguments) const;
  void set_arguments(Handle& handle, const std::vector<sdk::Argument>& arguments) const;

  Context& context_;
  const std::string symbol_;
  const std::string function_;
  const std::shared_ptr<KernelText> text_;
  mutable Handle handle_;      // guarded by mutex_
  mutable Handle any_offset_;  // guarded by mutex_; built when first asked for
  size_t group_points_ = 1;
  std::array<size_t, 3> points_ = {};  // of all groups, in each dimension; one may have none
  struct Place {
    uint64_t element_bytes = 1;
    uint64_t offset_bytes = 0;  // to be added to the argument's (semtree::KernelArgument)
  };
  std::vector<Place> places_;  // of each argument
  mutable std::mutex mutex_;
};

}  // namespace stria::opencl
