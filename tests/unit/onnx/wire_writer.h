// SPDX-License-Identifier: Apache-2.0
// Messages in protobuf's wire format, field by field: right ones and wrong ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "stria/onnx/model/model.h"

namespace stria::onnx {

class WireWriter {
 public:
  WireWriter& number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
    return *this;
  }
  WireWriter& tag(uint64_t field, unsigned type) { return number(field << 3 | type); }
  WireWriter& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }

  WireWriter& varint(uint64_t field, int64_t value) {
    return tag(field, 0).number(static_cast<uint64_t>(value));
  }
  WireWriter& bytes(uint64_t field, std::string_view value) {
    return tag(field, 2).number(value.size()).raw(value);
  }
  WireWriter& message(uint64_t field, const WireWriter& value) { return bytes(field, value.text_); }
  // A float or a double.
  template <typename T>
  WireWriter& fixed(uint64_t field, T value) {
    return tag(field, sizeof(T) == 4 ? 5 : 1).raw(bytes_of({value}));
  }
  WireWriter& packed(uint64_t field, std::initializer_list<int64_t> values) {
    WireWriter list;
    for (int64_t value : values) list.number(static_cast<uint64_t>(value));
    return bytes(field, list.text_);
  }
  template <typename T>
  WireWriter& packed_fixed(uint64_t field, std::initializer_list<T> values) {
    return bytes(field, bytes_of(values));
  }

  const std::string& text() const { return text_; }

  template <typename T>
  static std::string bytes_of(std::initializer_list<T> values) {
    std::string out(values.size() * sizeof(T), '\0');
    if (values.size() > 0) std::memcpy(out.data(), values.begin(), out.size());
    return out;
  }

 private:
  std::string text_;
};

// A model of this graph that lacks nothing.
inline WireWriter model_of(const WireWriter& graph) {
  return WireWriter().varint(1, 10).message(8, WireWriter().varint(2, 21)).message(7, graph);
}

inline WireWriter node_of(std::string_view op_type) { return WireWriter().bytes(4, op_type); }

// A tensor without its elements.
inline WireWriter tensor_of(int type, std::initializer_list<int64_t> dims) {
  WireWriter out;
  for (int64_t dim : dims) out.varint(1, dim);
  return out.varint(2, type);
}
inline WireWriter tensor_of(ElementType type, std::initializer_list<int64_t> dims) {
  return tensor_of(static_cast<int>(type), dims);
}

}  // namespace stria::onnx
