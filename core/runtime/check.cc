// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/check.h"

#include <list>

namespace stria {
namespace {

constexpr uint64_t kSampleSeed = 1;

// Elements as the interpreter can read them: a copy of a view that lies elsewhere.
Result<const HostTensor*> aligned(const HostTensor& tensor, std::list<HostTensor>& copies) {
  if (tensor.is_aligned()) return &tensor;
  STRIA_ASSIGN(HostTensor copy, tensor.clone());
  copies.push_back(std::move(copy));
  return &copies.back();
}

interp::TensorArg argument_of(const std::string& name, const HostTensor& tensor) {
  // The interpreter writes to outputs only, and those given here are inputs or results.
  return {name, const_cast<std::byte*>(tensor.data()), memory_shape(tensor.type(), tensor.sizes())};
}

}  // namespace

Result<std::vector<OutputCheck>> check_outputs(const Compilation& compilation,
                                               std::span<const HostTensor> inputs,
                                               std::span<const HostTensor> outputs,
                                               std::optional<int64_t> sample,
                                               interp::Events* events) {
  const tile::BoundProgram& bound = compilation.bound;
  const ProgramBinding* const binding = compilation.binding.get();
  const size_t brought = binding ? binding->values.size() : 0;
  if (inputs.size() + brought != bound.inputs.size() || outputs.size() != bound.outputs.size())
    return internal_error("check of '{}' with {} inputs and {} outputs", bound.name, inputs.size(),
                          outputs.size());
  STRIA_ASSIGN(std::vector<interp::ProgramTensor> used,
               interp::program_inputs(compilation.generic));
  std::vector<interp::TensorArg> arguments;
  std::list<HostTensor> copies;
  size_t given = 0;
  for (const tile::TensorId id : bound.inputs) {
    const std::string& name = bound.tensors[id].name;
    const bool is_brought = binding && binding->values.contains(name);
    const HostTensor& tensor = is_brought ? *binding->values.at(name) : inputs[given++];
    for (const interp::ProgramTensor& one : used)
      if (one.name == name) {
        STRIA_ASSIGN(const HostTensor* read, aligned(tensor, copies));
        arguments.push_back(argument_of(name, *read));
      }
  }
  interp::InterpOptions options;
  options.events = sample ? nullptr : events;
  options.flushed = compilation.flushed;
  STRIA_ASSIGN(std::vector<interp::Reference> references,
               sample ? interp::interpret_sample(compilation.generic, arguments, *sample,
                                                 kSampleSeed, options)
                      : interp::interpret_with_bounds(compilation.generic, arguments, options));
  std::vector<OutputCheck> checks;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = bound.tensors[bound.outputs[i]].name;
    const interp::Reference* reference = nullptr;
    for (const interp::Reference& candidate : references)
      if (candidate.name == name) reference = &candidate;
    if (reference == nullptr) return internal_error("the interpreter gives no output '{}'", name);
    STRIA_ASSIGN(interp::CheckReport report,
                 interp::compare(argument_of(name, outputs[i]), *reference));
    checks.push_back({binding ? binding->shown(name) : name, std::move(report)});
  }
  return checks;
}

}  // namespace stria
