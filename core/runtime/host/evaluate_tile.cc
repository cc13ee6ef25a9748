// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/evaluate_tile.h"

#include <list>
#include <map>

#include "stria/interp/interpret.h"
#include "stria/lower/lower.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"

namespace stria {

Result<std::vector<HostTensor>> evaluate_tile(
    const std::string& text, const std::string& function, const std::vector<std::string>& names,
    const std::vector<std::shared_ptr<const HostTensor>>& inputs) {
  std::map<std::string, TensorType> types;
  for (size_t i = 0; i < inputs.size(); ++i)
    types[names[i]] = {inputs[i]->type(), inputs[i]->sizes()};
  STRIA_ASSIGN(const tile::Program parsed, tile::parse({function + ".tile", text}));
  STRIA_ASSIGN(const tile::BoundProgram bound, tile::bind_program(parsed, function, types));
  STRIA_ASSIGN(const stripe::Program generic, lower(bound));
  STRIA_ASSIGN(const std::vector<interp::ProgramTensor> used, interp::program_inputs(generic));
  std::vector<interp::TensorArg> arguments;
  std::list<HostTensor> copies;  // of elements that do not lie where they can be read
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const interp::ProgramTensor& tensor : used) {
      if (tensor.name != names[i]) continue;
      const HostTensor* input = inputs[i].get();
      if (!input->is_aligned()) {
        STRIA_ASSIGN(HostTensor copy, input->clone());
        copies.push_back(std::move(copy));
        input = &copies.back();
      }
      // The interpreter writes to outputs only.
      arguments.push_back({names[i], const_cast<std::byte*>(input->data()),
                           memory_shape(input->type(), input->sizes())});
    }
  std::vector<HostTensor> out;
  for (const tile::TensorId id : bound.outputs) {
    const tile::BoundTensor& tensor = bound.tensors[static_cast<size_t>(id)];
    STRIA_ASSIGN(HostTensor result,
                 HostTensor::create(tensor.outside_type(), tensor.sizes, tensor.name));
    arguments.push_back(
        {tensor.name, result.data(), memory_shape(tensor.outside_type(), tensor.sizes)});
    out.push_back(std::move(result));
  }
  STRIA_RETURN_IF_ERROR(interp::interpret(generic, arguments));
  return out;
}

}  // namespace stria
