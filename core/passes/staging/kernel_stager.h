// SPDX-License-Identifier: Apache-2.0
// The choice of `schedule` for each kernel: does it work on whole tensors in the scratchpad, or
// does it copy in what each of its points reads, and copy out what they write?
//
// What autotile has chosen decides, and room. Where several kernels write one tensor until it is
// whole, they agree: all of them work on it in the scratchpad, which is then never copied before it
// is whole; or all of them copy out exactly their own parts. Those that can do neither write the
// tensor where it is.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/pass_context.h"
#include "stria/passes/staging/schedule.h"
#include "stria/passes/staging/scratchpad_tensors.h"
#include "stria/rewrite/kernel_probe.h"
#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria::passes {

// Borrows everything that it is given. For the kernels of one block.
class KernelStager {
 public:
  struct Around {
    stripe::Block& block;
    const stripe::Place& place;
    const ScheduleOptions& options;
    int64_t bank_bytes;
    KernelProbe& probe;
    PassContext& context;
  };
  // `reach`: of each kernel, the banks that its units reach. `alignment`: a multiple of the size of
  // all elements; it grows with the kernels' own buffers.
  KernelStager(const Around& around, std::vector<ScratchpadTensor>& tensors,
               const std::vector<std::vector<bool>>& reach, int64_t& alignment);
  ~KernelStager();
  KernelStager(const KernelStager&) = delete;
  KernelStager& operator=(const KernelStager&) = delete;

  // Changes kernels so that they copy parts themselves, and marks those uses as `staged`. Adds the
  // kernels' own buffers in the scratchpad to the tensors, so that they get places.
  Status run();
  // There is no room for the tensor until it is whole: its kernels copy parts of it.
  Status part(size_t tensor);
  // Counts what has been done.
  void report() const;

  // The banks that the kernel's units reach; if `bank` is not -1, only that one.
  std::vector<bool> banks_of(int64_t bank, size_t kernel) const;
  // How many points the instances of the kernel's unit have under way; 2 each if the model does not
  // say.
  int64_t depth_of(const stripe::Block& kernel) const;
  // For messages: why the kernel's tensors stay whole; "" if nothing is known.
  std::string why_whole(size_t kernel) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stria::passes
