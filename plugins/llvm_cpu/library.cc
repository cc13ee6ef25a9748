// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <xmmintrin.h>

#include "stria/codegen/code_generator.h"

namespace stria::llvm_cpu {
namespace {

// Numbers are rounded to the nearest and denormal ones stay what they are while this lives: a
// kernel may run on a thread of the application's that waits for it, and that has set otherwise.
class UsualArithmetic {
 public:
  UsualArithmetic() : before_(_mm_getcsr()) {
    if (unusual()) _mm_setcsr(before_ & ~kControl);
  }
  ~UsualArithmetic() {
    if (unusual()) _mm_setcsr(before_);
  }
  UsualArithmetic(const UsualArithmetic&) = delete;
  UsualArithmetic& operator=(const UsualArithmetic&) = delete;

 private:
  // Of the register: rounding, flush to zero, denormals are zero.
  static constexpr unsigned kControl = 0x6000 | 0x8000 | 0x0040;
  bool unusual() const { return (before_ & kControl) != 0; }
  const unsigned before_;
};

}  // namespace

CpuLibrary::CpuLibrary(const sdk::Host& host, std::shared_ptr<const CompiledKernels> code)
    : host_(host), code_(std::move(code)) {
  for (const CompiledKernel& kernel : code_->kernels())
    kernels_.push_back(code_generator::info_of(kernel));
}

sdk::Ref<sdk::Kernel> CpuLibrary::prepare(uint64_t index) {
  return sdk::make<CpuKernel>(host_, code_, index);
}

std::vector<sdk::NamedText> CpuLibrary::source() const {
  std::vector<sdk::NamedText> out;
  for (size_t n = 0; n < code_->kernels().size(); ++n) {
    const CompiledKernel& kernel = code_->kernels()[n];
    const std::string name = kernel.name.empty() ? "kernel_" + std::to_string(n) : kernel.name;
    if (!kernel.semtree.empty()) out.push_back({name + ".semtree", kernel.semtree});
    if (!kernel.ir.empty()) out.push_back({name + ".ll", kernel.ir});
    if (!kernel.assembly.empty()) out.push_back({name + ".s", kernel.assembly});
  }
  return out;
}

void CpuKernel::run(const stria_memory* arguments, uint64_t count) const {
  void* few[16];
  std::vector<void*> many;
  void** pointers = few;
  if (count > 16) {
    many.resize(count);
    pointers = many.data();
  }
  for (uint64_t i = 0; i < count; ++i)
    pointers[i] = static_cast<std::byte*>(arguments[i].data) + kernel_.arguments[i].offset_bytes;
  const int64_t trips = kernel_.trip_count;
  if (trips <= 1) {
    const UsualArithmetic usual;
    kernel_.entry(pointers, 0, trips);
    return;
  }
  // Passes have decided how many points there are. How many of them a thread takes at once is up
  // to the host.
  constexpr uint64_t kHostPicks = 0;
  host_.parallel_for(static_cast<uint64_t>(trips), kHostPicks, [&](uint64_t begin, uint64_t end) {
    const UsualArithmetic usual;
    kernel_.entry(pointers, static_cast<int64_t>(begin), static_cast<int64_t>(end));
  });
}

}  // namespace stria::llvm_cpu
