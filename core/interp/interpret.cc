// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/interpret.h"

#include "stria/interp/engine.h"
#include "stria/interp/program_run.h"

namespace stria::interp {

using stripe::RefDir;

Events& Events::operator+=(const Events& other) {
  division_by_zero += other.division_by_zero;
  conversion_overflow += other.conversion_overflow;
  clamped_reads += other.clamped_reads;
  return *this;
}

Status interpret(const stripe::Program& program, const std::vector<TensorArg>& tensors,
                 const InterpOptions& options) {
  STRIA_ASSIGN(ProgramTensors all, program_tensors(program));
  STRIA_RETURN_IF_ERROR(check_names(tensors, all));
  STRIA_ASSIGN(Plan plan, make_plan(program.entry));
  Engine<false> engine(plan, options);
  // A tensor of another layout than the program's stands beside it for the run.
  auto bind = [&](const ProgramTensors::One& one) -> Status {
    STRIA_ASSIGN(const TensorArg* arg, find_tensor(tensors, one.tensor.name));
    STRIA_RETURN_IF_ERROR(check_tensor(*arg, one.tensor.shape));
    const TensorShape& shape = program.entry.refs[one.slot].shape;
    const bool unwritten = one.tensor.dir == RefDir::out;
    if (same_layout(shape, arg->shape)) {
      engine.bind(one.slot, Buffer::wrap(arg->data, shape, unwritten, false));
      return {};
    }
    Buffer buffer = Buffer::allocate(shape, false);
    buffer.of_caller = true;
    if (!unwritten) {
      copy_tensor(shape, buffer.data, arg->shape, arg->data);
      buffer.valid.reset();
    }
    engine.bind(one.slot, std::move(buffer));
    return {};
  };
  for (const auto& one : all.inputs) STRIA_RETURN_IF_ERROR(bind(one));
  for (const auto& one : all.outputs) STRIA_RETURN_IF_ERROR(bind(one));
  STRIA_RETURN_IF_ERROR(engine.run());
  for (const auto& one : all.outputs) {
    const Buffer& buffer = engine.buffer_of(one.slot);
    if (options.need_all_outputs && buffer.valid) {
      int64_t missing = -1;
      for_each_element(*buffer.shape, [&](int64_t position, int64_t offset) {
        if (missing < 0 && !buffer.is_valid(offset)) missing = position;
      });
      if (missing >= 0)
        return invalid_argument("output {}{} is never written", one.tensor.name,
                                coordinates_text(*buffer.shape, missing));
    }
    if (!buffer.own) continue;
    STRIA_ASSIGN(const TensorArg* arg, find_tensor(tensors, one.tensor.name));
    copy_tensor(arg->shape, arg->data, *buffer.shape, buffer.data);
  }
  return {};
}

}  // namespace stria::interp
