// SPDX-License-Identifier: Apache-2.0
#include "stria/hwmodel/instruction_fields.h"

#include <algorithm>
#include <bit>
#include <set>

#include "stria/base/text.h"

namespace stria {
namespace {

using nlohmann::json;

// {"n": 1}
Status read_strides(ObjectReader& operand, const std::vector<std::string>& dims,
                    std::map<std::string, int64_t>& strides) {
  if (!operand.get("strides")) return {};
  ObjectReader reader = operand.inside("strides");
  STRIA_RETURN_IF_ERROR(reader.check());
  STRIA_ASSIGN(const std::vector<std::string> names, reader.names());
  for (const std::string& name : names) {
    if (std::find(dims.begin(), dims.end(), name) == dims.end())
      return reader.fail(name,
                         fmt::format("the operand has no dim '{}'{} (its dims: {})", name,
                                     did_you_mean(name, dims), join(dims, ", ")),
                         PlacedTexts::At::key);
    STRIA_RETURN_IF_ERROR(reader.integer(name, strides[name], 1));
  }
  return reader.finish();
}

Status read_alignment(ObjectReader& operand, int64_t& bytes) {
  STRIA_RETURN_IF_ERROR(
      operand.integer("align_bytes", bytes, 1, 1, static_cast<double>(kMostAlignBytes)));
  if (!std::has_single_bit(static_cast<uint64_t>(bytes)))
    return operand.wrong("align_bytes", "a power of two");
  return {};
}

Status read_operand(ObjectReader& reader, const Instruction& instruction,
                    const std::vector<std::string>& memories, InstructionOperand& operand) {
  STRIA_RETURN_IF_ERROR(reader.flag("written", operand.written));
  std::string type;
  STRIA_RETURN_IF_ERROR(reader.text("type", type));
  std::optional<DataType> parsed = parse_data_type(type);
  if (!parsed)
    return reader.fail("type", type.empty() ? "is missing"
                                            : fmt::format("there is no type '{}'{}", type,
                                                          did_you_mean(type, data_type_names())));
  operand.type = *parsed;
  STRIA_RETURN_IF_ERROR(reader.text("home", operand.home));
  if (operand.home.empty()) return reader.fail("home", "is missing: the memory unit it is in");
  STRIA_RETURN_IF_ERROR(
      check_memory(reader, "home", operand.home, memories, PlacedTexts::At::value));
  const json* dims = reader.get("dims");
  if (!dims || !dims->is_array())
    return reader.fail("dims", "must be a list of the instruction's indices");
  std::vector<std::string> names;
  for (const Instruction::Index& index : instruction.indices) names.push_back(index.name);
  const std::set<std::string> known(names.begin(), names.end());
  for (size_t i = 0; i < dims->size(); ++i) {
    const json& entry = (*dims)[i];
    const std::string at = pointer_child(reader.pointer_of("dims"), std::to_string(i));
    const std::string name = entry.is_string() ? entry.get<std::string>() : entry.dump();
    if (known.count(name) == 0)
      return reader.texts().fail(
          at, fmt::format("the instruction has no index '{}'{}", name, did_you_mean(name, names)));
    operand.dims.push_back(name);
  }
  for (const char* key : {"strides", "align_bytes"})
    if (reader.get(key) && instruction.symbol.empty())
      return reader.fail(
          key, fmt::format("it is for micro-kernels; '{}' names no symbol", instruction.name));
  STRIA_RETURN_IF_ERROR(read_strides(reader, operand.dims, operand.strides));
  STRIA_RETURN_IF_ERROR(read_alignment(reader, operand.align_bytes));
  if (reader.get("fragment")) {
    if (!instruction.symbol.empty())
      return reader.fail("fragment", fmt::format("lanes hold no operand of the micro-kernel '{}': "
                                                 "take out either this or the symbol",
                                                 instruction.name));
    ObjectReader fragment = reader.inside("fragment");
    STRIA_RETURN_IF_ERROR(fragment.check());
    STRIA_RETURN_IF_ERROR(fragment.text("lane", operand.fragment["lane"]));
    STRIA_RETURN_IF_ERROR(fragment.text("slot", operand.fragment["slot"]));
    for (const auto& [name, form] : operand.fragment)
      if (form.empty()) return fragment.fail(name, "is missing");
    STRIA_RETURN_IF_ERROR(fragment.finish());
  }
  return reader.finish();
}

// Instructions have 1 where the size is missing, as they always had.
Status read_size(ObjectReader& index, const Instruction& instruction, int64_t& size) {
  const json* given = index.get("size");
  if (instruction.symbol.empty() && given && *given == kAnySize)
    return index.fail(
        "size",
        fmt::format("-1, any size, is for micro-kernels; '{}' names no symbol", instruction.name));
  STRIA_RETURN_IF_ERROR(index.integer("size", size, instruction.symbol.empty() ? 1 : kAnySize));
  if (!instruction.symbol.empty() && (size == 0 || size == 1))
    return index.fail("size", fmt::format("{} is no size of a micro-kernel's index: 2 or more, or "
                                          "-1, which is any size from 2 on",
                                          size));
  return {};
}

}  // namespace

Status check_memory(const ObjectReader& reader, const std::string& key, const std::string& name,
                    const std::vector<std::string>& memories, PlacedTexts::At at) {
  if (std::binary_search(memories.begin(), memories.end(), name)) return {};
  return reader.fail(
      key, fmt::format("the model has no memory unit '{}'{}", name, did_you_mean(name, memories)),
      at);
}

Status read_instruction(ObjectReader& reader, const std::vector<std::string>& memories,
                        Instruction& instruction) {
  STRIA_RETURN_IF_ERROR(reader.text("symbol", instruction.symbol));
  if (reader.get("symbol") && !is_function_name(instruction.symbol))
    return reader.fail("symbol",
                       fmt::format("{}, this is '{}'", kFunctionName, instruction.symbol));
  STRIA_RETURN_IF_ERROR(reader.real("cycles", instruction.cycles));
  STRIA_RETURN_IF_ERROR(reader.real("latency_cycles", instruction.latency_cycles));
  const json* indices = reader.get("idxs");
  if (!indices || !indices->is_array() || indices->empty())
    return reader.fail("idxs", "must be a list such as [{\"name\": \"m\", \"size\": 16}]");
  for (size_t i = 0; i < indices->size(); ++i) {
    ObjectReader entry(reader.texts(), (*indices)[i],
                       pointer_child(reader.pointer_of("idxs"), std::to_string(i)));
    STRIA_RETURN_IF_ERROR(entry.check());
    Instruction::Index index;
    STRIA_RETURN_IF_ERROR(entry.text("name", index.name));
    if (index.name.empty()) return entry.fail("name", "is missing");
    STRIA_RETURN_IF_ERROR(read_size(entry, instruction, index.size));
    STRIA_RETURN_IF_ERROR(entry.finish());
    instruction.indices.push_back(std::move(index));
  }
  if (!reader.get("operands")) return reader.fail("operands", "is missing");
  ObjectReader operands = reader.inside("operands");
  STRIA_RETURN_IF_ERROR(operands.check());
  STRIA_ASSIGN(std::vector<std::string> names, operands.names());
  for (const std::string& name : names) {
    ObjectReader operand = operands.inside(name);
    STRIA_RETURN_IF_ERROR(operand.check());
    instruction.operands.push_back({.name = name});
    STRIA_RETURN_IF_ERROR(
        read_operand(operand, instruction, memories, instruction.operands.back()));
  }
  const auto written = std::count_if(instruction.operands.begin(), instruction.operands.end(),
                                     [](const InstructionOperand& one) { return one.written; });
  if (!instruction.symbol.empty() && written != 1)
    return reader.fail("operands",
                       fmt::format("a micro-kernel has one operand that is \"written\": true, "
                                   "this one has {}",
                                   written));
  return reader.finish();
}

}  // namespace stria
