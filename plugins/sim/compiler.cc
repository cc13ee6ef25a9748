// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <cmath>

#include "program/part_simulation.h"
#include "report/simulation_report.h"
#include "stria/codegen/code_generator.h"
#include "stria/stripe/tags.h"

namespace stria::sim {
namespace {

stria_direction direction_of(stripe::RefDir dir) {
  if (dir == stripe::RefDir::in) return STRIA_IN;
  return dir == stripe::RefDir::out ? STRIA_OUT : STRIA_INOUT;
}

}  // namespace

sdk::Ref<sdk::Library> SimCompiler::compile(std::string_view stripe, std::string_view options) {
  return sdk::make<SimLibrary>(simulate(stripe, options));
}

std::vector<SimLibrary::Part> SimCompiler::simulate(std::string_view stripe,
                                                    std::string_view options) const {
  const stripe::Program program = code_generator::read_request(stripe, options).program;
  const bool placed = program.entry.tags.has(stripe::tag::kPlaced);
  std::vector<SimLibrary::Part> parts;
  const std::pair<stria_program_part, const stripe::Block*> blocks[] = {
      {STRIA_PROLOGUE, program.prologue()}, {STRIA_MAIN, program.main()}};
  for (const auto& [part, block] : blocks)
    if (block && !block->stmts.empty()) {
      const ReportedPart reported{"",
                                  code_generator::require(simulate_part(program, *block, *model_))};
      const PartSimulation& timed = reported.run;
      const double seconds = timed.machine.seconds(timed.ticks());
      const double pj = timed.lowered.unpriced.empty() ? energy_of(reported).total() : 0;
      parts.push_back(std::make_shared<const RunnablePart>(RunnablePart{
          part, code_generator::require(PartValues::make(*block, placed)), timed.order(),
          timed.machine.cycles(timed.ticks()), static_cast<uint64_t>(std::llround(seconds * 1e9)),
          static_cast<uint64_t>(std::llround(pj))}));
    }
  return parts;
}

SimLibrary::SimLibrary(std::vector<Part> parts) : parts_(std::move(parts)) {
  for (const Part& part : parts_) {
    sdk::KernelInfo info;
    info.name = part->part == STRIA_MAIN ? "main" : "prologue";
    info.part = part->part;
    info.statement = STRIA_WHOLE_PART;
    for (const PartValues::Argument& argument : part->values.arguments())
      info.arguments.push_back(
          {argument.name, direction_of(argument.dir), static_cast<uint64_t>(argument.bytes), {}});
    kernels_.push_back(std::move(info));
  }
}

sdk::Ref<sdk::Kernel> SimLibrary::prepare(uint64_t index) {
  return sdk::make<SimKernel>(parts_[index]);
}

void SimKernel::run(const stria_memory* arguments, uint64_t count) const {
  std::vector<void*> pointers;
  for (uint64_t i = 0; i < count; ++i) pointers.push_back(arguments[i].data);
  code_generator::require(part_->values.run(pointers.data(), part_->order));
}

}  // namespace stria::sim
