// SPDX-License-Identifier: Apache-2.0
#include "dialect.h"

namespace stria::cuda {

const char* preamble() {
  return R"(typedef signed char i8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

// ---- vectors; a truth value of a lane is an int of all ones or 0
template <typename T, int N>
struct lanes {
  T v[N];
  __device__ lanes() {}
  __device__ explicit lanes(T x) { for (int i = 0; i < N; ++i) v[i] = x; }
};
template <typename T, typename... X>
__device__ T lanes_of(X... x) { T out; const decltype(out.v[0] + 0) all[] = {(decltype(out.v[0] + 0))x...}; for (int i = 0; i < (int)sizeof...(X); ++i) out.v[i] = all[i]; return out; }
#define STRIA_LANES(op) \
  template <typename T, int N> __device__ lanes<T, N> operator op(lanes<T, N> a, lanes<T, N> b) { for (int i = 0; i < N; ++i) a.v[i] = (T)(a.v[i] op b.v[i]); return a; } \
  template <typename T, int N> __device__ lanes<T, N> operator op(lanes<T, N> a, T b) { for (int i = 0; i < N; ++i) a.v[i] = (T)(a.v[i] op b); return a; }
STRIA_LANES(+) STRIA_LANES(-) STRIA_LANES(*) STRIA_LANES(/) STRIA_LANES(%) STRIA_LANES(&) STRIA_LANES(|) STRIA_LANES(^) STRIA_LANES(<<) STRIA_LANES(>>)
#undef STRIA_LANES
#define STRIA_COMPARE(op) \
  template <typename T, int N> __device__ lanes<int, N> operator op(lanes<T, N> a, lanes<T, N> b) { lanes<int, N> out; for (int i = 0; i < N; ++i) out.v[i] = a.v[i] op b.v[i] ? -1 : 0; return out; }
STRIA_COMPARE(==) STRIA_COMPARE(!=) STRIA_COMPARE(<) STRIA_COMPARE(<=)
#undef STRIA_COMPARE
template <typename T, int N> __device__ lanes<T, N> operator-(lanes<T, N> a) { for (int i = 0; i < N; ++i) a.v[i] = (T)-a.v[i]; return a; }
template <typename T, int N> __device__ lanes<T, N> operator~(lanes<T, N> a) { for (int i = 0; i < N; ++i) a.v[i] = (T)~a.v[i]; return a; }
template <typename V, typename T> __device__ V load_lanes(const T* from) { V out; for (int i = 0; i < (int)(sizeof out.v / sizeof out.v[0]); ++i) out.v[i] = from[i]; return out; }
template <typename T, int N> __device__ void store_lanes(T* to, lanes<T, N> x) { for (int i = 0; i < N; ++i) to[i] = x.v[i]; }
template <typename T, int N> __device__ lanes<T, N> select(lanes<int, N> mask, lanes<T, N> a, lanes<T, N> b) { for (int i = 0; i < N; ++i) a.v[i] = mask.v[i] ? a.v[i] : b.v[i]; return a; }
template <int N> __device__ bool any_of(lanes<int, N> mask) { int all = 0; for (int i = 0; i < N; ++i) all |= mask.v[i]; return all != 0; }
template <int N> __device__ bool all_of(lanes<int, N> mask) { int all = -1; for (int i = 0; i < N; ++i) all &= mask.v[i]; return all != 0; }
template <typename To, typename From> __device__ To bits_as(const From& x) { To out; memcpy(&out, &x, sizeof out); return out; }
__device__ inline u32 pair_bits(lanes<u16, 2> x) { return (u32)x.v[1] << 16 | x.v[0]; }

// ---- numbers
template <typename T> __device__ T nan_max(T a, T b) { return a != a || b < a ? a : b; }
template <typename T> __device__ T nan_min(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> __device__ T lesser(T a, T b) { return b < a ? b : a; }
template <typename T> __device__ T greater(T a, T b) { return a < b ? b : a; }
template <typename T> __device__ T floor_div(T a, T b) { return (T)(a / b - (a % b < 0)); }
template <typename T> struct bits_of { enum { count = 8 * sizeof(T), is_signed = (T)-1 < (T)1 }; };
// Rounds toward zero, stays at the ends of the type, 0 of NaN.
template <typename To, typename From>
__device__ To saturated(From x) {
  const int bits = bits_of<To>::count - bits_of<To>::is_signed;
  const To highest = (To)(((u64)1 << (bits - 1)) - 1 + ((u64)1 << (bits - 1)));
  const From limit = (From)((u64)1 << (bits - 1)) * 2;
  if (x != x) return 0;
  if (x >= limit) return highest;
  if (bits_of<To>::is_signed ? x <= -limit : x <= (From)0) return bits_of<To>::is_signed ? (To)(-(i8)1 - highest) : (To)0;
  return (To)x;
}
__device__ inline float from_fp16(u16 x) { float out; asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x)); return out; }
__device__ inline u16 to_fp16(float x) { u16 out; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x)); return out; }
__device__ inline float from_bf16(u16 x) { return bits_as<float>((u32)x << 16); }
__device__ inline u16 to_bf16(float x) {
  const u32 bits = bits_as<u32>(x);
  return x != x ? (u16)(bits >> 16 | 0x40u) : (u16)((bits + ((bits >> 16 & 1u) + 0x7fffu)) >> 16);
}
// Toward zero, the last bit set if anything was lost, so that a second rounding is as if it were the only one.
__device__ inline float to_odd(double x) { const float f = __double2float_rz(x); return (double)f != x && x == x ? bits_as<float>(bits_as<u32>(f) | 1u) : f; }
__device__ inline float to_odd(long x) { const float f = __ll2float_rz(x); return (long)f != x ? bits_as<float>(bits_as<u32>(f) | 1u) : f; }
__device__ inline float to_odd(u64 x) { const float f = __ull2float_rz(x); return (u64)f != x ? bits_as<float>(bits_as<u32>(f) | 1u) : f; }
__device__ inline float to_odd(int x) { return to_odd((long)x); }
__device__ inline float to_odd(u32 x) { return to_odd((long)x); }

// ---- the same, lane by lane
#define STRIA_EACH(name, call) template <typename T, int N> __device__ lanes<T, N> name(lanes<T, N> x) { for (int i = 0; i < N; ++i) x.v[i] = call(x.v[i]); return x; }
#define STRIA_EACH_2(name, call) template <typename T, int N> __device__ lanes<T, N> name(lanes<T, N> x, lanes<T, N> y) { for (int i = 0; i < N; ++i) x.v[i] = call(x.v[i], y.v[i]); return x; }
STRIA_EACH(sqrt, sqrt) STRIA_EACH(floor, floor) STRIA_EACH(ceil, ceil) STRIA_EACH(trunc, trunc) STRIA_EACH(rint, rint) STRIA_EACH(round, round)
STRIA_EACH(fabs, fabs) STRIA_EACH(exp, exp) STRIA_EACH(log, log) STRIA_EACH(sin, sin) STRIA_EACH(cos, cos) STRIA_EACH(tan, tan)
STRIA_EACH(asin, asin) STRIA_EACH(acos, acos) STRIA_EACH(atan, atan) STRIA_EACH(sinh, sinh) STRIA_EACH(cosh, cosh) STRIA_EACH(tanh, tanh)
STRIA_EACH(asinh, asinh) STRIA_EACH(acosh, acosh) STRIA_EACH(atanh, atanh)
STRIA_EACH_2(pow, pow) STRIA_EACH_2(fmod, fmod) STRIA_EACH_2(nan_max, nan_max) STRIA_EACH_2(nan_min, nan_min)
STRIA_EACH_2(lesser, lesser) STRIA_EACH_2(greater, greater) STRIA_EACH_2(floor_div, floor_div)
#undef STRIA_EACH
#undef STRIA_EACH_2
template <typename T> __device__ T absolute(T x) { return x < 0 ? (T)(0 - (u64)x) : x; }
template <typename T, int N> __device__ lanes<T, N> absolute(lanes<T, N> x) { for (int i = 0; i < N; ++i) x.v[i] = absolute(x.v[i]); return x; }
template <typename T, int N> __device__ lanes<T, N> fma(lanes<T, N> a, lanes<T, N> b, lanes<T, N> c) { for (int i = 0; i < N; ++i) c.v[i] = fma(a.v[i], b.v[i], c.v[i]); return c; }
#define STRIA_CONVERT(name, call) template <typename To, typename From, int N> __device__ To name(lanes<From, N> x) { To out; for (int i = 0; i < N; ++i) out.v[i] = call(x.v[i]); return out; }
STRIA_CONVERT(converted, (decltype(out.v[0] + 0))) STRIA_CONVERT(lanes_from_fp16, from_fp16) STRIA_CONVERT(lanes_from_bf16, from_bf16)
STRIA_CONVERT(lanes_to_fp16, to_fp16) STRIA_CONVERT(lanes_to_bf16, to_bf16) STRIA_CONVERT(lanes_to_odd, to_odd)
#undef STRIA_CONVERT
template <typename To, typename T, typename From, int N> __device__ To lanes_saturated(lanes<From, N> x) { To out; for (int i = 0; i < N; ++i) out.v[i] = saturated<T>(x.v[i]); return out; }
#define STRIA_TYPES(N) \
  typedef lanes<i8, N> i8_x##N; typedef lanes<short, N> short_x##N; typedef lanes<int, N> int_x##N; typedef lanes<long, N> long_x##N; \
  typedef lanes<u8, N> u8_x##N; typedef lanes<u16, N> u16_x##N; typedef lanes<u32, N> u32_x##N; typedef lanes<u64, N> u64_x##N; \
  typedef lanes<float, N> float_x##N; typedef lanes<double, N> double_x##N;
STRIA_TYPES(2) STRIA_TYPES(4) STRIA_TYPES(8) STRIA_TYPES(16)
#undef STRIA_TYPES
)";
}

}  // namespace stria::cuda
