// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/program_run.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "stria/base/text.h"

namespace stria::interp {

using stripe::RefDir;

Result<ProgramTensors> program_tensors(const stripe::Program& program) {
  const stripe::Block* main = program.main();
  if (!main)
    return Status(StatusCode::failed_precondition, "the program has no statement tagged #main");
  ProgramTensors out;
  std::set<std::string> seen;
  auto add = [&](const stripe::Block& section, bool inputs) -> Status {
    for (const stripe::Refinement& ref : section.refs) {
      if (ref.dir == RefDir::none || (ref.dir == RefDir::in) != inputs) continue;
      const stripe::Refinement* tensor = program.entry.find_ref(ref.from);
      if (!tensor)
        return invalid_argument("{} reads or writes '{}', which the program does not have",
                                section.name, ref.from);
      if (!seen.insert(ref.from).second) continue;
      const auto slot = static_cast<size_t>(tensor - program.entry.refs.data());
      (inputs ? out.inputs : out.outputs).push_back({slot, {ref.from, tensor->shape, ref.dir}});
    }
    return {};
  };
  STRIA_RETURN_IF_ERROR(add(*main, false));
  // What the prologue writes is main's to read, but nobody's input.
  if (const stripe::Block* prologue = program.prologue())
    for (const stripe::Refinement& ref : prologue->refs)
      if (is_written(ref)) seen.insert(ref.from);
  STRIA_RETURN_IF_ERROR(add(*main, true));
  if (const stripe::Block* prologue = program.prologue())
    STRIA_RETURN_IF_ERROR(add(*prologue, true));
  return out;
}

namespace {
std::vector<ProgramTensor> plain(const std::vector<ProgramTensors::One>& all) {
  std::vector<ProgramTensor> out;
  for (const auto& one : all) out.push_back(one.tensor);
  return out;
}
}  // namespace

Result<std::vector<ProgramTensor>> program_inputs(const stripe::Program& program) {
  STRIA_ASSIGN(ProgramTensors tensors, program_tensors(program));
  return plain(tensors.inputs);
}
Result<std::vector<ProgramTensor>> program_outputs(const stripe::Program& program) {
  STRIA_ASSIGN(ProgramTensors tensors, program_tensors(program));
  return plain(tensors.outputs);
}

Status check_tensor(const TensorArg& arg, const TensorShape& shape) {
  if (arg.shape.type != shape.type || arg.shape.sizes() != shape.sizes())
    return invalid_argument("tensor {} is {}, the program has {}", arg.name,
                            to_string(arg.shape.type, arg.shape.sizes()),
                            to_string(shape.type, shape.sizes()));
  if (!arg.data && shape.element_count() > 0)
    return invalid_argument("tensor {} has no memory", arg.name);
  return {};
}

Result<const TensorArg*> find_tensor(const std::vector<TensorArg>& args, const std::string& name) {
  for (const TensorArg& arg : args)
    if (arg.name == name) return &arg;
  return invalid_argument("no tensor is given for {}", name);
}

Status check_names(const std::vector<TensorArg>& args, const ProgramTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& one : tensors.inputs) names.push_back(one.tensor.name);
  for (const auto& one : tensors.outputs) names.push_back(one.tensor.name);
  std::set<std::string> seen;
  for (const TensorArg& arg : args) {
    if (std::find(names.begin(), names.end(), arg.name) == names.end())
      return invalid_argument("'{}' is no input or output of the program{}", arg.name,
                              did_you_mean(arg.name, names));
    if (!seen.insert(arg.name).second)
      return invalid_argument("tensor {} is given twice", arg.name);
  }
  return {};
}

void copy_tensor(const TensorShape& to, void* to_data, const TensorShape& from,
                 const void* from_data) {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(from.element_count()));
  for_each_element(from, [&](int64_t, int64_t offset) { offsets.push_back(offset); });
  const int64_t bytes = byte_size(to.type);
  for_each_element(to, [&](int64_t position, int64_t offset) {
    std::memcpy(
        static_cast<char*>(to_data) + offset * bytes,
        static_cast<const char*>(from_data) + offsets[static_cast<size_t>(position)] * bytes,
        static_cast<size_t>(bytes));
  });
}

int64_t offset_of(const TensorShape& shape, int64_t position) {
  int64_t offset = 0;
  for (size_t d = shape.rank(); d-- > 0; position /= shape.dims[d].size)
    offset += position % shape.dims[d].size * shape.dims[d].stride;
  return offset;
}

std::string coordinates_text(const TensorShape& shape, int64_t position) {
  std::vector<int64_t> at(shape.rank());
  for (size_t d = shape.rank(); d-- > 0;) {
    at[d] = position % shape.dims[d].size;
    position /= shape.dims[d].size;
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

Result<Buffer> bring_in(const std::vector<TensorArg>& args, const ProgramTensor& tensor,
                        const TensorShape& shape, bool in_place, bool with_bounds) {
  STRIA_ASSIGN(const TensorArg* arg, find_tensor(args, tensor.name));
  STRIA_RETURN_IF_ERROR(check_tensor(*arg, shape));
  const bool unwritten = tensor.dir == RefDir::out;
  if (in_place && same_layout(shape, arg->shape))
    return Buffer::wrap(arg->data, shape, unwritten, with_bounds);
  Buffer buffer = Buffer::allocate(shape, with_bounds);
  buffer.of_caller = true;
  if (unwritten) return buffer;
  copy_tensor(shape, buffer.data, arg->shape, arg->data);
  buffer.accept_content();
  return buffer;
}

Status check_written(const std::string& name, const Buffer& buffer) {
  if (!buffer.valid) return {};
  int64_t missing = -1;
  for_each_element(*buffer.shape, [&](int64_t position, int64_t offset) {
    if (missing < 0 && !buffer.is_valid(offset)) missing = position;
  });
  if (missing < 0) return {};
  return invalid_argument("output {}{} is never written", name,
                          coordinates_text(*buffer.shape, missing));
}

bool same_layout(const TensorShape& a, const TensorShape& b) {
  for (size_t d = 0; d < a.rank(); ++d)
    if (a.dims[d].size > 1 && a.dims[d].stride != b.dims[d].stride) return false;
  return true;
}

}  // namespace stria::interp
