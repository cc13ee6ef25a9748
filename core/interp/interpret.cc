// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/interpret.h"

#include "stria/interp/engine.h"
#include "stria/interp/program_run.h"

namespace stria::interp {

Events& Events::operator+=(const Events& other) {
  division_by_zero += other.division_by_zero;
  conversion_overflow += other.conversion_overflow;
  clamped_reads += other.clamped_reads;
  dropped_writes += other.dropped_writes;
  concurrent_steps += other.concurrent_steps;
  unordered_sums += other.unordered_sums;
  return *this;
}

Status interpret(const stripe::Program& program, const std::vector<TensorArg>& tensors,
                 const InterpOptions& options) {
  STRIA_ASSIGN(ProgramTensors all, program_tensors(program));
  STRIA_RETURN_IF_ERROR(check_names(tensors, all));
  STRIA_ASSIGN(Plan plan, make_plan(program.entry));
  Engine<false> engine(plan, options);
  for (const auto* group : {&all.inputs, &all.outputs})
    for (const auto& one : *group) {
      const TensorShape& shape = program.entry.refs[one.slot].shape;
      STRIA_ASSIGN(Buffer buffer, bring_in(tensors, one.tensor, shape, true, false));
      engine.bind(one.slot, std::move(buffer));
    }
  STRIA_RETURN_IF_ERROR(engine.run());
  for (const auto& one : all.outputs) {
    const Buffer& buffer = engine.buffer_of(one.slot);
    if (options.need_all_outputs) STRIA_RETURN_IF_ERROR(check_written(one.tensor.name, buffer));
    if (!buffer.own) continue;
    STRIA_ASSIGN(const TensorArg* arg, find_tensor(tensors, one.tensor.name));
    copy_tensor(arg->shape, arg->data, *buffer.shape, buffer.data);
  }
  return {};
}

}  // namespace stria::interp
