// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/device_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace stria {
namespace {

void add_types(const stripe::Block& block, std::set<DataType>& types) {
  for (const stripe::Refinement& ref : block.refs) {
    types.insert(ref.shape.type);
    if (ref.agg) types.insert(ref.agg->type);
  }
  for (const stripe::Statement& stmt : block.stmts) {
    if (const stripe::Block* inner = stmt.block()) add_types(*inner, types);
    if (const auto* index = std::get_if<stripe::LoadIndex>(&stmt.op)) types.insert(index->type);
    if (const auto* constant = std::get_if<stripe::Constant>(&stmt.op))
      types.insert(constant->value.type);
    if (const auto* intrinsic = std::get_if<stripe::Intrinsic>(&stmt.op))
      types.insert(intrinsic->type);
  }
}

// Of the tensors that the caller has: they are there at once. Sums that no number holds are the
// largest number.
uint64_t callers_bytes(const stripe::Block& main) {
  uint64_t bytes = 0;
  for (const stripe::Refinement& ref : main.refs) {
    if (ref.dir == stripe::RefDir::none) continue;
    const auto more = static_cast<uint64_t>(ref.shape.span_bytes());
    bytes = more > UINT64_MAX - bytes ? UINT64_MAX : bytes + more;
  }
  return bytes;
}

}  // namespace

ProgramNeeds program_needs(const stripe::Program& generic,
                           const std::function<std::string(const stripe::Block& kernel)>& name_of) {
  ProgramNeeds out;
  const stripe::Block* const main = generic.main();
  if (main == nullptr) return out;
  out.bytes = callers_bytes(*main);
  for (const stripe::Block* part : {generic.prologue(), main}) {
    if (part == nullptr) continue;
    for (const stripe::Statement& stmt : part->stmts) {
      std::set<DataType> types;
      std::string name;
      if (const stripe::Block* kernel = stmt.block()) {
        add_types(*kernel, types);
        name = name_of(*kernel);
      } else if (const stripe::Special* special = stmt.special()) {
        for (const auto* names : {&special->inputs, &special->outputs})
          for (const std::string& ref : *names)
            if (const stripe::Refinement* found = part->find_ref(ref))
              types.insert(found->shape.type);
        name = special->name;
      }
      for (const DataType type : types) {
        std::vector<std::string>& names = out.types[type];
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  }
  return out;
}

std::vector<DeviceLack> device_lacks(const ProgramNeeds& needs, const HardwareModel& model,
                                     uint64_t memory_bytes) {
  std::vector<DeviceLack> out;
  if (memory_bytes > 0 && needs.bytes > memory_bytes)
    out.push_back({fmt::format("memory: inputs and outputs have {} bytes, it has {}", needs.bytes,
                               memory_bytes),
                   {}});
  for (const auto& [type, missing] : model.lacking_types)
    if (const auto at = needs.types.find(type); at != needs.types.end())
      out.push_back({fmt::format("{} ({})", stria::name_of(type), missing), at->second});
  return out;
}

std::vector<DeviceLack> device_lacks(
    const stripe::Program& generic, const HardwareModel& model, uint64_t memory_bytes,
    const std::function<std::string(const stripe::Block& kernel)>& name_of) {
  return device_lacks(program_needs(generic, name_of), model, memory_bytes);
}

std::string text_of(const std::vector<DeviceLack>& lacks) {
  constexpr size_t kMost = 20;
  std::string out;
  for (const DeviceLack& lack : lacks) {
    out += (out.empty() ? "" : "\n") + lack.what;
    if (lack.needed_by.empty()) continue;
    out += ", which is needed by:";
    for (size_t i = 0; i < std::min(kMost, lack.needed_by.size()); ++i)
      out += "\n  " + lack.needed_by[i];
    if (lack.needed_by.size() > kMost)
      out += fmt::format("\n  and {} more", lack.needed_by.size() - kMost);
  }
  return out;
}

}  // namespace stria
