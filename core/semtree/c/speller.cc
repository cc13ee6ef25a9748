// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/c/speller.h"

namespace stria::semtree {

std::string_view class_of(DataType type) {
  if (type == DataType::boolean) return "bool";
  if (is_float(type)) return "float";
  return is_signed_integer(type) ? "signed" : "unsigned";
}

void Speller::lacks(std::string what) {
  if (status_.ok()) status_ = unsupported("{}", what);
}

std::string Speller::type_name(Type type) {
  if (type.scalar == DataType::boolean && type.lanes > 1)
    return fmt::format("{}{}{}", dialect_.lane_mask, dialect_.vector_mark, type.lanes);
  auto name = dialect_.types.find(type.scalar);
  if (name == dialect_.types.end()) {
    lacks(fmt::format("the device has no {}", stria::name_of(type.scalar)));
    return "?";
  }
  if (type.lanes == 1) return name->second;
  auto lane = dialect_.lane_types.find(type.scalar);
  return fmt::format("{}{}{}", lane == dialect_.lane_types.end() ? name->second : lane->second,
                     dialect_.vector_mark, type.lanes);
}

std::string Speller::memory_name(DataType type) {
  auto name = dialect_.memory_types.find(type);
  return name == dialect_.memory_types.end() ? type_name({type, 1}) : name->second;
}

namespace {

DataType integer_as_wide(Type type, bool is_signed) {
  // A vector of truth values is a vector of 32-bit masks.
  const int64_t bytes =
      type.scalar == DataType::boolean && type.lanes > 1 ? 4 : byte_size(type.scalar);
  switch (bytes) {
    case 1: return is_signed ? DataType::i8 : DataType::u8;
    case 2: return is_signed ? DataType::i16 : DataType::u16;
    case 4: return is_signed ? DataType::i32 : DataType::u32;
    default: return is_signed ? DataType::i64 : DataType::u64;
  }
}

}  // namespace

std::string Speller::signed_name(Type type) {
  return type_name({integer_as_wide(type, true), type.lanes});
}
std::string Speller::unsigned_name(Type type) {
  return type_name({integer_as_wide(type, false), type.lanes});
}

const Spelling* Speller::find(std::string_view key, Type type) const {
  const std::string with_type = fmt::format("{}.{}", key, stria::name_of(type.scalar));
  const std::string with_class = fmt::format("{}.{}", key, class_of(type.scalar));
  for (const char* suffix : {".lanes", ""}) {
    if (*suffix && type.lanes == 1) continue;
    for (std::string_view name : {std::string_view(with_type), std::string_view(with_class), key}) {
      auto at = dialect_.spellings.find(fmt::format("{}{}", name, suffix));
      if (at != dialect_.spellings.end()) return &at->second;
    }
  }
  return nullptr;
}

std::string Speller::fill(std::string_view text, Type result, Type operand,
                          const std::vector<std::string>& operands) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    const char what = text[++i];
    switch (what) {
      case 'T': out += type_name(result); break;
      case 'S': out += type_name(operand); break;
      case 't': out += stria::name_of(result.scalar); break;
      case 's': out += stria::name_of(operand.scalar); break;
      case 'I': out += signed_name(result); break;
      case 'J': out += signed_name(operand); break;
      case 'U': out += unsigned_name(result); break;
      case 'n': out += result.lanes == 1 ? "" : std::to_string(result.lanes); break;
      default:
        STRIA_CHECK(what >= '0' && what <= '9' && static_cast<size_t>(what - '0') < operands.size(),
                    "placeholder ${} in '{}'", what, text);
        out += operands[static_cast<size_t>(what - '0')];
    }
  }
  return out;
}

std::string Speller::expand(const Spelling& spelling, Type result, Type operand,
                            const std::vector<std::string>& operands) {
  for (const std::string& name : spelling.helpers) {
    const Spelling& helper = dialect_.helpers.at(name);
    const std::string body = expand(helper, result, operand, {});
    if (known_.insert(body).second) helpers_ += body + "\n";
  }
  return fill(spelling.text, result, operand, operands);
}

std::string Speller::expand(std::string_view key, Type looked_up, Type result, Type operand,
                            const std::vector<std::string>& operands, std::string_view what) {
  if (const Spelling* spelling = find(key, looked_up))
    return expand(*spelling, result, operand, operands);
  lacks(fmt::format("there is no {} of {} in this language", what, to_string(looked_up)));
  return "?";
}

}  // namespace stria::semtree
