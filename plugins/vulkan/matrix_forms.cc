// SPDX-License-Identifier: Apache-2.0
#include "matrix_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "stria/base/json_object.h"

namespace stria::vulkan {
namespace {

using nlohmann::json;

// Of VkComponentTypeKHR; nullopt for what no tensor has.
std::optional<DataType> type_of_component(int32_t component, bool bfloat16) {
  constexpr int32_t kBfloat16 = 1000141000;
  switch (component) {
    case 0: return DataType::fp16;
    case 1: return DataType::fp32;
    case 2: return DataType::fp64;
    case 3: return DataType::i8;
    case 4: return DataType::i16;
    case 5: return DataType::i32;
    case 6: return DataType::i64;
    case 7: return DataType::u8;
    case 8: return DataType::u16;
    case 9: return DataType::u32;
    case 10: return DataType::u64;
    case kBfloat16: return bfloat16 ? std::optional(DataType::bf16) : std::nullopt;
    default: return std::nullopt;
  }
}

json operand(DataType type, const char* rows, const char* columns) {
  return {{"type", name_of(type)}, {"dims", {rows, columns}}, {"home", "MATRIX"}};
}

}  // namespace

std::vector<MatrixForm> matrix_forms(const Instance& vk, VkPhysicalDevice device, bool bfloat16) {
  const auto ask = vk.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  uint32_t count = 0;
  if (!ask || ask(device, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<CooperativeMatrixForm> listed(count);
  for (CooperativeMatrixForm& form : listed) form.sType = kCooperativeMatrixFormType;
  const VkResult code = ask(device, &count, listed.data());
  if (code != VK_SUCCESS && code != VK_INCOMPLETE) return {};
  listed.resize(std::min<size_t>(count, listed.size()));
  std::vector<MatrixForm> out;
  for (const CooperativeMatrixForm& form : listed) {
    if (form.scope != kSubgroupScope || form.saturatingAccumulation != VK_FALSE ||
        form.CType != form.ResultType)
      continue;
    const auto left = type_of_component(form.AType, bfloat16);
    const auto right = type_of_component(form.BType, bfloat16);
    const auto sum = type_of_component(form.CType, bfloat16);
    if (!left || !right || !sum) continue;
    const MatrixForm known{form.MSize, form.NSize, form.KSize, *left, *right, *sum};
    if (std::find(out.begin(), out.end(), known) == out.end()) out.push_back(known);
  }
  return out;
}

bool is_instruction(const MatrixForm& form) {
  return form.sum == DataType::fp32 || form.sum == DataType::i32 || form.sum == DataType::u32;
}

std::string instruction_name(const MatrixForm& form) {
  std::string types{name_of(form.left)};
  if (form.right != form.left) types += fmt::format("_{}", name_of(form.right));
  return fmt::format("matrix_{}_{}_{}x{}x{}", types, name_of(form.sum), form.m, form.n, form.k);
}

json instructions_of(const std::vector<MatrixForm>& forms) {
  json out = json::object();
  for (const MatrixForm& form : forms) {
    if (!is_instruction(form)) continue;
    json& instruction = object_at(out, instruction_name(form));
    instruction["idxs"] = {{{"name", "m"}, {"size", form.m}},
                           {{"name", "n"}, {"size", form.n}},
                           {{"name", "k"}, {"size", form.k}}};
    json& operands = object_at(instruction, "operands");
    operands["A"] = operand(form.left, "m", "k");
    operands["B"] = operand(form.right, "k", "n");
    operands["C"] = operand(form.sum, "m", "n");
    object_at(operands, "C")["written"] = true;
  }
  return out;
}

}  // namespace stria::vulkan
