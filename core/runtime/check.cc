// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/check.h"

#include <list>

#include "stria/type/converted_tensor.h"
#include "stria/type/scalar.h"

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

// What the interpreter says of the bytes of an output of packed type, as said of its elements.
interp::Reference elements_of(const interp::Reference& bytes, DataType type,
                              const std::vector<int64_t>& sizes) {
  interp::Reference out;
  out.name = bytes.name;
  out.shape = dense_shape(held_type(type), sizes);
  const int64_t count = out.shape.element_count();
  const int shared = 8 / bit_width(type);
  for (size_t at = 0; at < bytes.size(); ++at) {
    const int64_t byte = bytes.elements.empty() ? static_cast<int64_t>(at) : bytes.elements[at];
    const auto bits = static_cast<uint8_t>(bytes.typed[at].i);
    for (int k = 0; k < shared && byte * shared + k < count; ++k) {
      if (!bytes.elements.empty()) out.elements.push_back(byte * shared + k);
      out.typed.push_back(convert(load_scalar(type, &bits, k), out.shape.type));
      out.value.push_back(out.typed.back().to_double());
      out.bound.push_back(0);
      out.undecided.push_back(bytes.undecided[at]);
    }
  }
  return out;
}

// Of one output. Its elements are compared also where the reference has bytes.
Result<interp::CheckReport> compare(const std::string& name, const HostTensor& result,
                                    const interp::Reference& reference) {
  if (!is_packed(result.type())) return interp::compare(argument_of(name, result), reference);
  STRIA_ASSIGN(const HostTensor held, converted(result, held_type(result.type())));
  return interp::compare(argument_of(name, held),
                         elements_of(reference, result.type(), result.sizes()));
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
    STRIA_ASSIGN(interp::CheckReport report, compare(name, outputs[i], *reference));
    checks.push_back({binding ? binding->shown(name) : name, std::move(report)});
  }
  return checks;
}

}  // namespace stria
