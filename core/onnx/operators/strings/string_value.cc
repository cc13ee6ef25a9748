// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/operators/strings/string_value.h"

#include <fmt/format.h>

namespace stria::onnx {
namespace {

// Bytes that are no UTF-8 become points that UTF-8 does not have, and come back from them.
constexpr char32_t kNoUtf8 = 0x110000;

// How many bytes a character takes that begins with `first`; 0 if none does.
size_t bytes_of(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

}  // namespace

Result<ValuePtr> strings_of(NodeWriter& node, int i) {
  if (!node.has(i)) return node.error(fmt::format("input {} is missing", i));
  if (node.value(i)->kind != Value::Kind::strings)
    return node.error(fmt::format("input {} ('{}') has no strings", i, node.value(i)->name));
  return node.value(i);
}

Status result_strings(NodeWriter& node, int k, std::vector<std::string> strings,
                      std::vector<int64_t> sizes) {
  auto value = std::make_shared<Value>();
  value->kind = Value::Kind::strings;
  if (node.wants(k)) value->name = node.node().outputs[static_cast<size_t>(k)];
  value->type.sizes = std::move(sizes);
  value->strings = std::move(strings);
  return node.result_value(k, value);
}

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    size_t count = bytes_of(first);
    char32_t point = count <= 1 ? first : first & (0x7fU >> count);
    bool right = count > 0 && count <= text.size() - at;
    for (size_t b = 1; right && b < count; ++b) {
      const auto next = static_cast<uint8_t>(text[at + b]);
      right = (next & 0xc0) == 0x80;
      point = point << 6 | (next & 0x3f);
    }
    if (!right) {
      point = kNoUtf8 + first;
      count = 1;
    }
    out += point;
    at += count;
  }
  return out;
}

std::string utf8(std::u32string_view points) {
  std::string out;
  for (const char32_t point : points) {
    const auto low = [&](int shift) { out += static_cast<char>(0x80 | ((point >> shift) & 0x3f)); };
    if (point < 0x80) {
      out += static_cast<char>(point);
    } else if (point < 0x800) {
      out += static_cast<char>(0xc0 | point >> 6);
      low(0);
    } else if (point < 0x10000) {
      out += static_cast<char>(0xe0 | point >> 12);
      low(6), low(0);
    } else if (point < kNoUtf8) {
      out += static_cast<char>(0xf0 | point >> 18);
      low(12), low(6), low(0);
    } else {
      out += static_cast<char>(point - kNoUtf8);
    }
  }
  return out;
}

}  // namespace stria::onnx
