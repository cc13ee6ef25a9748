// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/model/packed_elements.h"

#include <utility>

namespace stria::onnx {
namespace {

// How the numbers of a list become bytes.
struct Packing {
  std::string_view field;
  size_t width_bytes;   // of a number
  int64_t least, most;  // of a number; no limits if they are equal
};

// Several elements of less than a byte share a number, as they share a byte; but those of 6 bits
// have one each. A number may be written signed or not.
Packing packing_of(ElementType type, uint32_t field) {
  const int bits = bits_of(type);
  const std::string_view name = field == 5   ? "int32_data"
                                : field == 7 ? "int64_data"
                                             : "uint64_data";
  if (type == ElementType::boolean) return {name, 1, 0, 1};
  if (bits == 6) return {name, 1, 0, 63};
  if (bits == 64) return {name, 8, 0, 0};
  const int width_bits = bits < 8 ? 8 : bits;
  return {name, static_cast<size_t>(width_bits / 8), -(int64_t{1} << (width_bits - 1)),
          (int64_t{1} << width_bits) - 1};
}

// Four elements, a byte each, to three bytes, the first in the lowest bits.
std::string packed_6_bits(const std::string& elements) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (char element : elements) {
    bits |= static_cast<uint32_t>(static_cast<uint8_t>(element)) << count;
    for (count += 6; count >= 8; count -= 8, bits >>= 8) out += static_cast<char>(bits);
  }
  if (count > 0) out += static_cast<char>(bits);
  return out;
}

// Lists of floats lie in the file as they are needed; all but the first are copied behind it.
void read_fixed(WireReader& tensor, uint32_t field, size_t needed, std::string& copy,
                std::string_view& whole) {
  const bool floats = field == 4;
  while (tensor.next()) {
    if (tensor.field() != field) continue;
    const std::string_view list =
        floats ? tensor.fixed("float_data", 4) : tensor.fixed("double_data", 8);
    if (whole.size() + list.size() > needed)
      return tensor.fail(fmt::format("more than the {} bytes of the tensor", needed));
    if (whole.empty()) {
      whole = list;
    } else {
      if (copy.empty()) copy = whole;
      copy += list;
      whole = copy;
    }
  }
}

void read_integers(WireReader& tensor, uint32_t field, const Packing& packing, size_t most_bytes,
                   std::string& copy) {
  const auto append = [&](int64_t number) {
    if (packing.least != packing.most && (number < packing.least || number > packing.most))
      return tensor.fail(fmt::format("{}: {} is not a number from {} to {}", packing.field, number,
                                     packing.least, packing.most));
    if (copy.size() >= most_bytes)
      return tensor.fail(fmt::format("{}: more numbers than the tensor has", packing.field));
    copy.append(reinterpret_cast<const char*>(&number), packing.width_bytes);
  };
  while (tensor.next())
    if (tensor.field() == field) tensor.integers(packing.field, append);
}

}  // namespace

uint32_t field_of_elements(ElementType type) {
  switch (type) {
    case ElementType::undefined: return 0;
    case ElementType::fp32:
    case ElementType::complex64: return 4;
    case ElementType::string: return 6;
    case ElementType::i64: return 7;
    case ElementType::fp64:
    case ElementType::complex128: return 10;
    case ElementType::u32:
    case ElementType::u64: return 11;
    default: return bits_of(type) > 0 ? 5 : 0;
  }
}

void read_elements(WireReader& tensor, int64_t needed_bytes, TensorData& out) {
  const uint32_t field = field_of_elements(out.type);
  const auto needed = static_cast<size_t>(needed_bytes);
  auto copy = std::make_shared<std::string>();
  std::string_view whole;
  if (field == 4 || field == 10) {
    read_fixed(tensor, field, needed, *copy, whole);
  } else {
    const bool six_bits = bits_of(out.type) == 6;
    const size_t most = six_bits ? static_cast<size_t>(out.element_count()) : needed;
    read_integers(tensor, field, packing_of(out.type, field), most, *copy);
    if (six_bits && copy->size() == most) *copy = packed_6_bits(*copy);
    whole = *copy;
  }
  out.bytes = whole;
  if (!copy->empty()) out.owner = std::move(copy);
}

}  // namespace stria::onnx
