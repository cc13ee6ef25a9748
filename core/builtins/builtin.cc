// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/builtin.h"

#include <algorithm>
#include <unordered_map>

#include "stria/base/text.h"

namespace stria {
namespace builtins {
#define STRIA_BUILTIN(name) extern const Builtin name;
#include "stria/builtins/all_builtins.def"
#undef STRIA_BUILTIN
}  // namespace builtins

namespace {

constexpr const Builtin* kAll[] = {
#define STRIA_BUILTIN(name) &builtins::name,
#include "stria/builtins/all_builtins.def"
#undef STRIA_BUILTIN
};

DataType unpromoted_type(TypeRule rule, DataType common) {
  switch (rule) {
    case TypeRule::arithmetic: return common == DataType::boolean ? DataType::i32 : common;
    case TypeRule::floating: return is_float(common) ? common : DataType::fp32;
    case TypeRule::logic: return DataType::boolean;
    default: return common;
  }
}

}  // namespace

std::span<const Builtin* const> all_builtins() { return kAll; }

const Builtin* find_builtin(std::string_view name) {
  static const std::unordered_map<std::string_view, const Builtin*> by_name = [] {
    std::unordered_map<std::string_view, const Builtin*> out;
    for (const Builtin* builtin : kAll) out.emplace(builtin->name, builtin);
    return out;
  }();
  auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : at->second;
}

const std::vector<std::string>& builtin_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Builtin* builtin : kAll) out.push_back(builtin->name);
    return out;
  }();
  return names;
}

bool is_total(const Builtin& builtin, DataType op_type) {
  return builtin.total || is_float(op_type);
}

std::optional<Scalar> unit_of(Unit unit, DataType type) {
  const bool floats = is_float(type);
  switch (unit) {
    case Unit::none: return std::nullopt;
    case Unit::zero: return convert(Scalar::of_int(DataType::i32, 0), type);
    case Unit::negative_zero:
      return floats ? Scalar::of_float(type, -0.0) : Scalar::of_int(type, 0);
    case Unit::one: return convert(Scalar::of_int(DataType::i32, 1), type);
    case Unit::all_ones:
      return floats ? std::nullopt : std::optional(Scalar::of_int(type, wrap_to(type, -1)));
  }
  return std::nullopt;
}

DataType common_type(DataType a, DataType b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a)) {
    if (bit_width(a) == bit_width(b)) return DataType::fp32;  // fp16 beside bf16
    return bit_width(a) > bit_width(b) ? a : b;
  }
  if (bit_width(a) != bit_width(b)) return bit_width(a) > bit_width(b) ? a : b;
  return is_unsigned_integer(a) ? a : b;
}

Result<CallTypes> call_types(const Builtin& builtin, std::span<const DataType> operands) {
  if (static_cast<int>(operands.size()) != builtin.arity)
    return invalid_argument("{} takes {} operand{}, got {}", builtin.name, builtin.arity,
                            builtin.arity == 1 ? "" : "s", operands.size());
  STRIA_CHECK(builtin.types != TypeRule::cast, "{} is a cast: use cast_type", builtin.name);
  auto first = operands.begin() + (builtin.types == TypeRule::select ? 1 : 0);
  DataType common = *first;
  for (auto it = first; it != operands.end(); ++it) common = common_type(common, *it);
  DataType type = unpromoted_type(builtin.types, common);
  if (!allows(builtin, type))
    return invalid_argument("{} works on integers and bool, not on {}", builtin.name,
                            name_of(type));
  return CallTypes{compute_type(type), result_type(builtin, type)};
}

DataType operand_type(const Builtin& builtin, DataType op_type, int operand) {
  if (builtin.types == TypeRule::logic) return DataType::boolean;
  if (builtin.types == TypeRule::select && operand == 0) return DataType::boolean;
  return op_type;
}

DataType result_type(const Builtin& builtin, DataType op_type) {
  if (builtin.types == TypeRule::logic || builtin.types == TypeRule::comparison)
    return DataType::boolean;
  return op_type;
}

bool allows(const Builtin& builtin, DataType op_type) {
  if (builtin.types == TypeRule::bits) return !is_float(op_type);
  if (builtin.types == TypeRule::floating) return is_float(op_type);
  return true;
}

Result<DataType> cast_type(const Builtin& builtin, int64_t bits) {
  STRIA_CHECK(builtin.types == TypeRule::cast, "{} is no cast", builtin.name);
  const std::string_view name = builtin.name;
  const std::string kind = name == "as_float"    ? "fp"
                           : name == "as_bfloat" ? "bf"
                           : name == "as_int"    ? "i"
                           : name == "as_uint"   ? "u"
                                                 : "";
  if (kind.empty()) {
    if (bits != 0) return invalid_argument("{} takes no width, got {}", name, bits);
    return *parse_tensor_type(name.substr(3));  // behind "as_"
  }
  // Of floats below 16 bits there are several of a width: each has a function of its own.
  const bool several = kind == "fp" && bits < 16;
  if (auto type = parse_tensor_type(fmt::format("{}{}", kind, bits)); type && bits > 0 && !several)
    return *type;
  if (several && (bits == 4 || bits == 8))
    return invalid_argument("{} to {} bits: write {}", name, bits,
                            bits == 4 ? "as_fp4(x)" : "as_fp8_e4m3(x) or as_fp8_e5m2(x)");
  return invalid_argument("{} to {} bits: the widths are {}", name, bits,
                          kind == "fp"   ? "16, 32, 64"
                          : kind == "bf" ? "16"
                                         : "2, 4, 8, 16, 32, 64");
}

Result<std::vector<int64_t>> broadcast_sizes(std::span<const std::vector<int64_t>> operands) {
  size_t rank = 0;
  for (const auto& sizes : operands) rank = std::max(rank, sizes.size());
  std::vector<int64_t> out(rank, 1);
  for (const auto& sizes : operands) {
    const size_t skip = rank - sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) {
      int64_t& size = out[skip + i];
      if (size == 1) size = sizes[i];
      if (sizes[i] == size || sizes[i] == 1) continue;
      std::vector<std::string> shapes;
      for (const auto& all : operands) shapes.push_back(fmt::format("[{}]", fmt::join(all, ", ")));
      return invalid_argument(
          "sizes {} do not broadcast: {} against {} in dimension {} from the end",
          join(shapes, " and "), size, sizes[i], sizes.size() - i);
    }
  }
  return out;
}

double ulp_bound(const Builtin& builtin, DataType type) {
  if (type == DataType::fp64) return builtin.ulp.fp64;
  if (type == DataType::fp32) return builtin.ulp.fp32;
  return builtin.ulp.fp32 == 0 ? 0 : 0.5;
}

}  // namespace stria
