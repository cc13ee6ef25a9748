// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/columns.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "stria/type/half.h"

namespace stria::interp {
namespace {

// f(type tag) for the native type of a column.
template <typename F>
auto with_native(DataType type, F f) {
  switch (type) {
    case DataType::boolean:
    case DataType::u8: return f(uint8_t{});
    case DataType::i8: return f(int8_t{});
    case DataType::i16: return f(int16_t{});
    case DataType::i32: return f(int32_t{});
    case DataType::i64: return f(int64_t{});
    case DataType::u16: return f(uint16_t{});
    case DataType::u32: return f(uint32_t{});
    case DataType::u64: return f(uint64_t{});
    case DataType::fp64: return f(double{});
    default: return f(float{});
  }
}

// Integers compute in an unsigned type of at least 32 bits: wraps, and no promotion to int.
template <typename T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, T,
                                std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>>;

struct Add {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(Wide<T>(a) + Wide<T>(b));
  }
};
struct Sub {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(Wide<T>(a) - Wide<T>(b));
  }
};
struct Mul {
  template <typename T>
  static T of(T a, T b) {
    return static_cast<T>(Wide<T>(a) * Wide<T>(b));
  }
};
struct Max {
  template <typename T>
  static T of(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};
struct Min {
  template <typename T>
  static T of(T a, T b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};
struct Div {
  template <typename T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct Equal {
  template <typename T>
  static uint8_t of(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static uint8_t of(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <typename T>
  static uint8_t of(T a, T b) {
    return a < b;
  }
};
struct Greater {
  template <typename T>
  static uint8_t of(T a, T b) {
    return a > b;
  }
};
struct LessEqual {
  template <typename T>
  static uint8_t of(T a, T b) {
    return a <= b;
  }
};
struct GreaterEqual {
  template <typename T>
  static uint8_t of(T a, T b) {
    return a >= b;
  }
};
struct Neg {
  template <typename T>
  static T of(T a) {
    return static_cast<T>(-Wide<T>(a));
  }
};
struct Relu {
  template <typename T>
  static T of(T a) {
    return ((a > 0) | (a != a)) ? a : T{0};
  }
};
struct SameType {
  template <typename T>
  static T of(T a) {
    return a;
  }
};
struct Sqrt {
  template <typename T>
  static T of(T a) {
    return std::sqrt(a);
  }
};

template <typename F, typename T>
void unary(void* out_data, const Column* in, int64_t n) {
  auto* __restrict out = static_cast<decltype(F::of(T{}))*>(out_data);
  const auto* a = static_cast<const T*>(in[0].data);
  if (in[0].stride == 0) n = 1;
  for (int64_t k = 0; k < n; ++k) out[k] = F::of(a[k]);
}

template <typename F, typename T>
void binary(void* out_data, const Column* in, int64_t n) {
  auto* __restrict out = static_cast<decltype(F::of(T{}, T{}))*>(out_data);
  const auto* a = static_cast<const T*>(in[0].data);
  const auto* b = static_cast<const T*>(in[1].data);
  if (in[0].stride == 0 && in[1].stride == 0) {
    out[0] = F::of(a[0], b[0]);
  } else if (in[0].stride == 0) {
    const T x = a[0];
    for (int64_t k = 0; k < n; ++k) out[k] = F::of(x, b[k]);
  } else if (in[1].stride == 0) {
    const T y = b[0];
    for (int64_t k = 0; k < n; ++k) out[k] = F::of(a[k], y);
  } else {
    for (int64_t k = 0; k < n; ++k) out[k] = F::of(a[k], b[k]);
  }
}

template <typename T>
void select(void* out_data, const Column* in, int64_t n) {
  T* out = static_cast<T*>(out_data);
  const auto* c = static_cast<const uint8_t*>(in[0].data);
  const T* a = static_cast<const T*>(in[1].data);
  const T* b = static_cast<const T*>(in[2].data);
  const int64_t sc = in[0].stride, sa = in[1].stride, sb = in[2].stride;
  if (sc == 0 && sa == 0 && sb == 0) n = 1;
  for (int64_t k = 0; k < n; ++k) out[k] = c[k * sc] ? a[k * sa] : b[k * sb];
}

template <typename From, typename To>
void cast(void* out_data, const Column* in, int64_t n) {
  To* __restrict out = static_cast<To*>(out_data);
  const auto* a = static_cast<const From*>(in[0].data);
  if (in[0].stride == 0) n = 1;
  for (int64_t k = 0; k < n; ++k) out[k] = static_cast<To>(a[k]);
}
template <typename From>
void truth(void* out_data, const Column* in, int64_t n) {
  auto* __restrict out = static_cast<uint8_t*>(out_data);
  const auto* a = static_cast<const From*>(in[0].data);
  if (in[0].stride == 0) n = 1;
  for (int64_t k = 0; k < n; ++k) out[k] = a[k] != 0;
}

template <typename F, typename T>
void combine(void* acc_data, int64_t stride, const Column& in, int64_t n) {
  T* acc = static_cast<T*>(acc_data);
  const T* a = static_cast<const T*>(in.data);
  if (stride == 0) {
    T running = acc[0];
    if (in.stride == 0)
      for (int64_t k = 0; k < n; ++k) running = F::of(running, a[0]);
    else
      for (int64_t k = 0; k < n; ++k) running = F::of(running, a[k]);
    acc[0] = running;
  } else if (stride == 1 && in.stride == 1) {
    T* __restrict to = acc;
    for (int64_t k = 0; k < n; ++k) to[k] = F::of(to[k], a[k]);
  } else {
    for (int64_t k = 0; k < n; ++k) acc[k * stride] = F::of(acc[k * stride], a[k * in.stride]);
  }
}

template <typename F>
ColumnCall binary_of(DataType type) {
  return with_native(type, [](auto tag) -> ColumnCall { return binary<F, decltype(tag)>; });
}
template <typename F>
ColumnCall unary_of(DataType type) {
  return with_native(type, [](auto tag) -> ColumnCall { return unary<F, decltype(tag)>; });
}

template <typename T>
void gather_as(const char* data, int64_t stride, int64_t n, void* out_data) {
  const T* from = reinterpret_cast<const T*>(data);
  T* __restrict out = static_cast<T*>(out_data);
  for (int64_t k = 0; k < n; ++k) out[k] = from[k * stride];
}
template <typename T>
void scatter_as(char* data, int64_t stride, const Column& in, int64_t n) {
  T* to = reinterpret_cast<T*>(data);
  const T* from = static_cast<const T*>(in.data);
  if (stride == 1 && in.stride == 1)
    std::memmove(to, from, static_cast<size_t>(n) * sizeof(T));
  else
    for (int64_t k = 0; k < n; ++k) to[k * stride] = from[k * in.stride];
}

bool is_half(DataType type) { return type == DataType::fp16 || type == DataType::bf16; }

}  // namespace

ColumnCall column_call(const Builtin& builtin, DataType type) {
  const std::string_view name = builtin.name;
  if (name == "ident") return unary_of<SameType>(type);
  if (name == "cond")
    return with_native(type, [](auto tag) -> ColumnCall { return select<decltype(tag)>; });
  if (name == "cmp_eq") return binary_of<Equal>(type);
  if (name == "cmp_ne") return binary_of<NotEqual>(type);
  if (name == "cmp_lt") return binary_of<Less>(type);
  if (name == "cmp_gt") return binary_of<Greater>(type);
  if (name == "cmp_le") return binary_of<LessEqual>(type);
  if (name == "cmp_ge") return binary_of<GreaterEqual>(type);
  if (name == "max") return binary_of<Max>(type);
  if (name == "min") return binary_of<Min>(type);
  if (name == "relu") return unary_of<Relu>(type);
  // From here on results need rounding (16-bit floats) or truth (bool), which these loops do not
  // do.
  if (is_half(type) || type == DataType::boolean) return nullptr;
  if (name == "add") return binary_of<Add>(type);
  if (name == "sub") return binary_of<Sub>(type);
  if (name == "mul") return binary_of<Mul>(type);
  if (name == "neg") return unary_of<Neg>(type);
  if (name == "div" && type == DataType::fp32) return binary<Div, float>;
  if (name == "div" && type == DataType::fp64) return binary<Div, double>;
  if (name == "sqrt" && type == DataType::fp32) return unary<Sqrt, float>;
  if (name == "sqrt" && type == DataType::fp64) return unary<Sqrt, double>;
  return nullptr;
}

ColumnCall column_convert(DataType from, DataType to) {
  if (is_half(to) || (is_float(from) && !is_float(to) && to != DataType::boolean)) return nullptr;
  return with_native(from, [to](auto from_tag) -> ColumnCall {
    using From = decltype(from_tag);
    if (to == DataType::boolean) return truth<From>;
    return with_native(to, [](auto to_tag) -> ColumnCall {
      using To = decltype(to_tag);
      if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>)
        return nullptr;
      else
        return cast<From, To>;
    });
  });
}

ColumnCombine column_combine(const stripe::Aggregation& agg) {
  if (is_half(agg.type) || agg.type == DataType::boolean) return nullptr;
  return with_native(agg.type, [&](auto tag) -> ColumnCombine {
    using T = decltype(tag);
    switch (agg.op) {
      case stripe::AggOp::add: return combine<Add, T>;
      case stripe::AggOp::mul: return combine<Mul, T>;
      case stripe::AggOp::max: return combine<Max, T>;
      case stripe::AggOp::min: return combine<Min, T>;
    }
    return nullptr;
  });
}

bool is_native(DataType type) { return !is_half(type) && type != DataType::boolean; }

void gather(DataType type, const char* data, int64_t stride, int64_t n, void* out) {
  if (is_native(type))
    return with_native(type, [&](auto tag) { gather_as<decltype(tag)>(data, stride, n, out); });
  if (type == DataType::boolean) {
    auto* to = static_cast<uint8_t*>(out);
    for (int64_t k = 0; k < n; ++k) to[k] = data[k * stride] != 0;
    return;
  }
  auto* to = static_cast<float*>(out);
  const auto* from = reinterpret_cast<const uint16_t*>(data);
  const bool fp16 = type == DataType::fp16;
  for (int64_t k = 0; k < n; ++k) {
    const uint16_t bits = from[k * stride];
    to[k] = static_cast<float>(fp16 ? fp16_to_double(bits) : bf16_to_double(bits));
  }
}

void scatter(DataType type, char* data, int64_t stride, const Column& in, int64_t n) {
  if (!is_half(type))
    return with_native(type, [&](auto tag) { scatter_as<decltype(tag)>(data, stride, in, n); });
  auto* to = reinterpret_cast<uint16_t*>(data);
  const auto* from = static_cast<const float*>(in.data);
  const bool fp16 = type == DataType::fp16;
  for (int64_t k = 0; k < n; ++k) {
    const double value = from[k * in.stride];
    to[k * stride] = fp16 ? fp16_from_double(value) : bf16_from_double(value);
  }
}

Scalar element_of(DataType type, const Column& column, int64_t k) {
  return with_native(type, [&](auto tag) {
    const auto value = static_cast<const decltype(tag)*>(column.data)[k * column.stride];
    Scalar out;
    out.type = type;
    if constexpr (std::is_floating_point_v<decltype(tag)>)
      out.f = value;
    else
      out.i = static_cast<int64_t>(value);
    return out;
  });
}

void set_element(DataType type, void* out, int64_t k, const Scalar& value) {
  with_native(type, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_floating_point_v<T>)
      static_cast<T*>(out)[k] = static_cast<T>(value.f);
    else
      static_cast<T*>(out)[k] = static_cast<T>(value.i);
  });
}

}  // namespace stria::interp
