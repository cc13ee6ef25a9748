// SPDX-License-Identifier: Apache-2.0
#include "stria/builtins/special.h"

namespace stria {
namespace builtins {
#define STRIA_SPECIAL(name) extern const Special name;
#include "stria/builtins/all_specials.def"
#undef STRIA_SPECIAL
}  // namespace builtins

namespace {

constexpr const Special* kAllSpecials[] = {
#define STRIA_SPECIAL(name) &builtins::name,
#include "stria/builtins/all_specials.def"
#undef STRIA_SPECIAL
};

}  // namespace

DataType sum_type(DataType type) {
  if (type == DataType::boolean) return DataType::i32;
  if (is_float(type) || bit_width(type) >= 32) return type;
  return is_signed_integer(type) ? DataType::i32 : DataType::u32;
}

std::span<const Special* const> all_specials() { return kAllSpecials; }

const Special* find_special(std::string_view name) {
  for (const Special* special : kAllSpecials)
    if (special->name == name) return special;
  return nullptr;
}

}  // namespace stria
