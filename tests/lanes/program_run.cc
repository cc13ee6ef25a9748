// SPDX-License-Identifier: Apache-2.0
#include "program_run.h"

#include <algorithm>

#include "stria/exec/plan.h"
#include "stria/semtree/build/kernels.h"

namespace stria::lanes {
namespace {

hal::KernelInfo info_of(const semtree::KernelBlock& kernel, const semtree::Function& function) {
  hal::KernelInfo info;
  info.name = kernel.block->name;
  info.part = kernel.in_prologue ? hal::ProgramPart::prologue : hal::ProgramPart::main;
  info.statement = static_cast<uint64_t>(kernel.statement);
  for (const semtree::KernelArgument& argument : semtree::arguments_of(*kernel.block, function))
    info.arguments.push_back({argument.name,
                              !argument.writable  ? hal::Direction::in
                              : argument.readable ? hal::Direction::inout
                                                  : hal::Direction::out,
                              static_cast<uint64_t>(argument.bytes),
                              {}});
  return info;
}

const interp::TensorArg* find(const std::vector<interp::TensorArg>& tensors,
                              const std::string& name) {
  const auto at = std::find_if(tensors.begin(), tensors.end(),
                               [&](const auto& tensor) { return tensor.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

}  // namespace

Status run_program(const stripe::Program& program, const semtree::SourceOptions& options,
                   const std::vector<interp::TensorArg>& tensors, uint64_t seed, RunCounts& counts,
                   const KernelChange& change) {
  STRIA_ASSIGN(const semtree::ProgramKernels kernels, semtree::kernels_of(program));
  std::vector<semtree::Function> functions;
  std::vector<hal::KernelInfo> infos;
  for (const semtree::KernelBlock& kernel : kernels.kernels) {
    STRIA_ASSIGN(functions.emplace_back(), semtree::build_kernel(kernel, options));
    if (change) functions.back() = change(std::move(functions.back()));
    infos.push_back(info_of(kernel, functions.back()));
  }
  STRIA_ASSIGN(const exec::Plan plan, exec::make_plan(program, infos));
  std::vector<Memory> memories;
  for (const exec::PlannedTensor& tensor : plan.tensors)
    memories.emplace_back(tensor.shape.type, tensor.shape.span_elements());
  for (const std::vector<size_t>* list : {&plan.inputs, &plan.outputs})
    for (size_t i : *list) {
      const exec::PlannedTensor& tensor = plan.tensors[i];
      const interp::TensorArg* given = find(tensors, tensor.name);
      if (!given || given->shape != tensor.shape)
        return invalid_argument(
            "the tensor '{}' is missing, or has another shape than the program's", tensor.name);
      if (tensor.dir != stripe::RefDir::out) memories[i].fill(given->data);
    }
  for (const exec::PlannedPart* part : {&plan.prologue, &plan.main})
    for (const exec::PlannedKernel& kernel : part->kernels) {
      std::vector<Argument> arguments;
      for (const exec::PlannedArgument& argument : kernel.arguments) {
        Memory& memory = memories[argument.tensor];
        arguments.push_back(
            {&memory, static_cast<int64_t>(argument.offset) / byte_size(memory.type)});
      }
      STRIA_RETURN_IF_ERROR(run_kernel(functions[kernel.library_index], arguments, seed, counts,
                                       options.build.subgroup_lanes));
    }
  for (size_t output : plan.outputs) {
    const Memory& memory = memories[output];
    const std::string& name = plan.tensors[output].name;
    if (const auto at = std::find(memory.poison.begin(), memory.poison.end(), 1);
        at != memory.poison.end())
      return invalid_argument(
          "element {} of the output '{}' was never written, or hangs on what was not",
          at - memory.poison.begin(), name);
    std::copy(memory.bytes.begin(), memory.bytes.end(),
              static_cast<uint8_t*>(find(tensors, name)->data));
  }
  return {};
}

}  // namespace stria::lanes
