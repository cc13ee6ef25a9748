// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/model_rules.h"

#include <nlohmann/json.hpp>

#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"

namespace stria {
namespace {

static_assert(kAnySize == stripe::kAnyRange);

// The typed form has 1 where the model says nothing.
bool gives_depth(const HardwareModel& model, const std::string& unit) {
  const nlohmann::json& all = model.merged();
  const auto units = all.find("exec_units");
  return units != all.end() && units->contains(unit) && units->at(unit).contains("pipeline_depth");
}

Result<stripe::Stencil> stencil_of(const std::string& unit, const Instruction& instruction) {
  stripe::Stencil stencil;
  stencil.name = instruction.name;
  stencil.unit = unit;
  stencil.symbol = instruction.symbol;
  for (const Instruction::Index& index : instruction.indices)
    stencil.indices.emplace_back(index.name, index.size);
  for (const InstructionOperand& from : instruction.operands) {
    stripe::StencilOperand operand{from.name, from.written, from.type,    from.dims,
                                   from.home, {},           from.strides, from.align_bytes};
    for (const auto& [owner, text] : from.fragment) {
      Result<stripe::BitFieldForm> form =
          stripe::parse_bit_form({fmt::format("{}/instructions/{}/operands/{}/fragment/{}", unit,
                                              instruction.name, from.name, owner),
                                  text});
      if (!form.ok()) return form.status();
      operand.fragment.emplace_back(owner, std::move(*form));
    }
    stencil.operands.push_back(std::move(operand));
  }
  return stencil;
}

}  // namespace

Result<ModelRules> ModelRules::of(const HardwareModel& model) {
  ModelRules rules;
  rules.units_ = model.units();
  for (const MemoryUnit& memory : model.memories)
    if (memory.size_bytes > 0 && memory.policy != MemoryPolicy::lru)
      rules.memory_bytes_[memory.name] = memory.size_bytes;
  for (const ExecutionUnit& unit : model.executors) {
    if (gives_depth(model, unit.name)) rules.pipeline_depths_[unit.name] = unit.pipeline_depth;
    for (const Instruction& instruction : unit.instructions) {
      STRIA_ASSIGN(rules.stencils_.emplace_back(), stencil_of(unit.name, instruction));
    }
  }
  return rules;
}

stripe::VerifyOptions ModelRules::options(
    const std::map<std::string, stripe::IntrinsicSignature>* intrinsics) const {
  stripe::VerifyOptions options;
  options.intrinsics = intrinsics;
  if (units_.empty()) return options;
  options.units = &units_;
  options.pipeline_depths = &pipeline_depths_;
  options.memory_bytes = &memory_bytes_;
  options.stencils = &stencils_;
  return options;
}

}  // namespace stria
