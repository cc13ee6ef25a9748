// SPDX-License-Identifier: Apache-2.0
#include "ours.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

#include "stria/runtime/compile_driver.h"
#include "stria/runtime/inside.h"

namespace stria::bench {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// What a plugin would say of the kernel.
hal::KernelInfo info_of(const llvm_cpu::CompiledKernel& kernel) {
  hal::KernelInfo out;
  out.name = kernel.name;
  out.part = kernel.in_prologue ? hal::ProgramPart::prologue : hal::ProgramPart::main;
  out.statement = static_cast<uint64_t>(kernel.statement);
  for (const semtree::KernelArgument& argument : kernel.arguments)
    out.arguments.push_back({argument.name,
                             !argument.writable  ? hal::Direction::in
                             : argument.readable ? hal::Direction::inout
                                                 : hal::Direction::out,
                             static_cast<uint64_t>(argument.bytes),
                             {}});
  return out;
}

}  // namespace

void FreeMemory::operator()(std::byte* memory) const { std::free(memory); }

Memory memory_of(uint64_t bytes) {
  constexpr uint64_t kLargePage = 2 << 20;
  const uint64_t page = bytes >= kLargePage ? kLargePage : 4096;
  const uint64_t rounded = std::max<uint64_t>(page, (bytes + page - 1) / page * page);
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(page, rounded)));
  STRIA_CHECK(memory != nullptr, "no memory for {} bytes", bytes);
  if (page == kLargePage) (void)madvise(memory.get(), rounded, MADV_HUGEPAGE);
  std::memset(memory.get(), 0, rounded);
  return memory;
}

void fill_normal(float* to, int64_t count, unsigned seed) {
  // A million of them over and over: memory sets have hundreds of millions.
  constexpr int64_t kDistinct = 1 << 20;
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  const int64_t drawn = std::min(count, kDistinct);
  for (int64_t i = 0; i < drawn; ++i) to[i] = distribution(random);
  for (int64_t i = drawn; i < count; i += drawn)
    std::memcpy(to + i, to, static_cast<size_t>(std::min(drawn, count - i)) * sizeof(float));
}

Result<std::unique_ptr<OurProgram>> OurProgram::make(const Device& device, const Program& program,
                                                     const InputTypes& inputs,
                                                     const CompileOptions& options) {
  auto out = std::make_unique<OurProgram>();
  Clock::time_point begin = Clock::now();
  STRIA_ASSIGN(Compilation generic, lower_program(program, inputs, options));
  STRIA_ASSIGN(const Compilation made,
               CompileDriver::specialize(device, std::move(generic), options));
  out->passes_ms_ = ms_since(begin);
  out->text_ = made.device_text;
  begin = Clock::now();
  STRIA_ASSIGN(out->code_, llvm_cpu::compile_kernels(made.device));
  out->code_ms_ = ms_since(begin);

  std::vector<hal::KernelInfo> infos;
  for (const llvm_cpu::CompiledKernel& kernel : out->code_->kernels())
    infos.push_back(info_of(kernel));
  STRIA_ASSIGN(out->plan_, exec::make_plan(made.device, infos));
  const exec::Plan& plan = out->plan_;
  out->derived_ = memory_of(plan.derived_bytes);
  out->prologue_arena_ = memory_of(plan.prologue.arena_bytes);
  out->main_arena_ = memory_of(plan.main.arena_bytes);
  for (const exec::PlannedTensor& tensor : plan.tensors) {
    const bool callers =
        tensor.role == exec::TensorRole::input || tensor.role == exec::TensorRole::output;
    out->memory_.push_back(callers ? memory_of(tensor.bytes) : Memory());
  }
  out->prologue_ = out->launches(plan.prologue, out->prologue_arena_.get());
  out->main_ = out->launches(plan.main, out->main_arena_.get());
  return out;
}

std::vector<OurProgram::Launch> OurProgram::launches(const exec::PlannedPart& part,
                                                     std::byte* arena) const {
  std::vector<Launch> out;
  for (const exec::PlannedKernel& kernel : part.kernels) {
    const llvm_cpu::CompiledKernel& code = code_->kernels()[kernel.library_index];
    Launch launch{code.entry, code.trip_count, {}};
    for (const exec::PlannedArgument& argument : kernel.arguments) {
      const exec::PlannedTensor& tensor = plan_.tensors[argument.tensor];
      std::byte* base = tensor.role == exec::TensorRole::derived ? derived_.get() + tensor.offset
                        : tensor.role == exec::TensorRole::temporary
                            ? arena + tensor.offset
                            : memory_[argument.tensor].get();
      launch.arguments.push_back(base + argument.offset);
    }
    out.push_back(std::move(launch));
  }
  return out;
}

float* OurProgram::input(const std::string& name) {
  for (size_t t : plan_.inputs)
    if (plan_.tensors[t].name == name) return reinterpret_cast<float*>(memory_[t].get());
  return nullptr;
}

int64_t OurProgram::elements(const std::string& name) const {
  for (size_t t : plan_.inputs)
    if (plan_.tensors[t].name == name) return static_cast<int64_t>(plan_.tensors[t].bytes / 4);
  return 0;
}

const float* OurProgram::output() const {
  return reinterpret_cast<const float*>(memory_[plan_.outputs.at(0)].get());
}

int64_t OurProgram::output_elements() const {
  return static_cast<int64_t>(plan_.tensors[plan_.outputs.at(0)].bytes / 4);
}

void OurProgram::prepare() {
  for (Launch& launch : prologue_) launch.entry(launch.arguments.data(), 0, launch.trips);
}

void OurProgram::run() {
  for (Launch& launch : main_) launch.entry(launch.arguments.data(), 0, launch.trips);
}

}  // namespace stria::bench
