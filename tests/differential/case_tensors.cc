// SPDX-License-Identifier: Apache-2.0
#include "case_tensors.h"

#include <cstdlib>

namespace stria::differential {

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

InputTypes types_of(const GeneratedProgram& program) {
  InputTypes types;
  for (const GeneratedTensor& input : program.inputs)
    types[input.name] = {input.outside_type(), input.sizes};
  return types;
}

HostTensor tensor_of(const GeneratedTensor& like, const std::vector<Scalar>* values) {
  const DataType type = like.outside_type();
  HostTensor tensor = HostTensor::create(type, like.sizes, like.name).value();
  if (values)
    for (size_t n = 0; n < values->size(); ++n)
      store_scalar(type, tensor.data(), static_cast<int64_t>(n), (*values)[n]);
  return tensor;
}

const GeneratedTensor& tensor_named(const GeneratedProgram& program, const std::string& name) {
  for (const GeneratedTensor& tensor : program.tensors)
    if (tensor.name == name) return tensor;
  STRIA_CHECK(false, "no tensor {}", name);
}

std::string listing(const GeneratedProgram& program) {
  std::string shapes;
  for (const GeneratedTensor& input : program.inputs)
    shapes += fmt::format("# {} {}\n", input.name, to_string(input.outside_type(), input.sizes));
  return shapes + program.tile_text();
}

}  // namespace stria::differential
