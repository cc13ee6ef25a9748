// SPDX-License-Identifier: Apache-2.0
#include "dialect.h"

namespace stria::cuda {

const char* preamble() {
  return R"(typedef signed char stria_i8;
typedef unsigned char stria_u8;
typedef unsigned short stria_u16;
typedef unsigned int stria_u32;
typedef unsigned long stria_u64;

// ---- vectors; a truth value of a lane is an int of all ones or 0
template <typename T, int N>
struct stria_lanes {
  T v[N];
  __device__ stria_lanes() {}
  __device__ explicit stria_lanes(T x) { for (int i = 0; i < N; ++i) v[i] = x; }
};
template <typename T, typename... X>
__device__ T stria_lanes_of(X... x) { T out; const decltype(out.v[0] + 0) all[] = {(decltype(out.v[0] + 0))x...}; for (int i = 0; i < (int)sizeof...(X); ++i) out.v[i] = all[i]; return out; }
#define STRIA_LANES(op) \
  template <typename T, int N> __device__ stria_lanes<T, N> operator op(stria_lanes<T, N> a, stria_lanes<T, N> b) { for (int i = 0; i < N; ++i) a.v[i] = (T)(a.v[i] op b.v[i]); return a; } \
  template <typename T, int N> __device__ stria_lanes<T, N> operator op(stria_lanes<T, N> a, T b) { for (int i = 0; i < N; ++i) a.v[i] = (T)(a.v[i] op b); return a; }
STRIA_LANES(+) STRIA_LANES(-) STRIA_LANES(*) STRIA_LANES(/) STRIA_LANES(%) STRIA_LANES(&) STRIA_LANES(|) STRIA_LANES(^) STRIA_LANES(<<) STRIA_LANES(>>)
#undef STRIA_LANES
#define STRIA_COMPARE(op) \
  template <typename T, int N> __device__ stria_lanes<int, N> operator op(stria_lanes<T, N> a, stria_lanes<T, N> b) { stria_lanes<int, N> out; for (int i = 0; i < N; ++i) out.v[i] = a.v[i] op b.v[i] ? -1 : 0; return out; }
STRIA_COMPARE(==) STRIA_COMPARE(!=) STRIA_COMPARE(<) STRIA_COMPARE(<=)
#undef STRIA_COMPARE
template <typename T, int N> __device__ stria_lanes<T, N> operator-(stria_lanes<T, N> a) { for (int i = 0; i < N; ++i) a.v[i] = (T)-a.v[i]; return a; }
template <typename T, int N> __device__ stria_lanes<T, N> operator~(stria_lanes<T, N> a) { for (int i = 0; i < N; ++i) a.v[i] = (T)~a.v[i]; return a; }
template <typename V, typename T> __device__ V stria_load_lanes(const T* from) { V out; for (int i = 0; i < (int)(sizeof out.v / sizeof out.v[0]); ++i) out.v[i] = from[i]; return out; }
template <typename T, int N> __device__ void stria_store_lanes(T* to, stria_lanes<T, N> x) { for (int i = 0; i < N; ++i) to[i] = x.v[i]; }
template <typename T, int N> __device__ stria_lanes<T, N> stria_select(stria_lanes<int, N> mask, stria_lanes<T, N> a, stria_lanes<T, N> b) { for (int i = 0; i < N; ++i) a.v[i] = mask.v[i] ? a.v[i] : b.v[i]; return a; }
template <int N> __device__ bool stria_any_of(stria_lanes<int, N> mask) { int all = 0; for (int i = 0; i < N; ++i) all |= mask.v[i]; return all != 0; }
template <int N> __device__ bool stria_all_of(stria_lanes<int, N> mask) { int all = -1; for (int i = 0; i < N; ++i) all &= mask.v[i]; return all != 0; }
template <typename To, typename From> __device__ To stria_bits_as(const From& x) { To out; memcpy(&out, &x, sizeof out); return out; }
__device__ inline stria_u32 stria_pair_bits(stria_lanes<stria_u16, 2> x) { return (stria_u32)x.v[1] << 16 | x.v[0]; }

// ---- numbers
template <typename T> __device__ T stria_nan_max(T a, T b) { return a != a || b < a ? a : b; }
template <typename T> __device__ T stria_nan_min(T a, T b) { return a != a || a < b ? a : b; }
template <typename T> __device__ T stria_lesser(T a, T b) { return b < a ? b : a; }
template <typename T> __device__ T stria_greater(T a, T b) { return a < b ? b : a; }
template <typename T> __device__ T stria_floor_div(T a, T b) { return (T)(a / b - (a % b < 0)); }
template <typename T> struct stria_bits_of { enum { count = 8 * sizeof(T), is_signed = (T)-1 < (T)1 }; };
// Rounds toward zero, stays at the ends of the type, 0 of NaN.
template <typename To, typename From>
__device__ To stria_saturated(From x) {
  const int bits = stria_bits_of<To>::count - stria_bits_of<To>::is_signed;
  const To highest = (To)(((stria_u64)1 << (bits - 1)) - 1 + ((stria_u64)1 << (bits - 1)));
  const From limit = (From)((stria_u64)1 << (bits - 1)) * 2;
  if (x != x) return 0;
  if (x >= limit) return highest;
  if (stria_bits_of<To>::is_signed ? x <= -limit : x <= (From)0) return stria_bits_of<To>::is_signed ? (To)(-(stria_i8)1 - highest) : (To)0;
  return (To)x;
}
__device__ inline float stria_from_fp16(stria_u16 x) { float out; asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x)); return out; }
__device__ inline stria_u16 stria_to_fp16(float x) { stria_u16 out; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x)); return out; }
__device__ inline float stria_from_bf16(stria_u16 x) { return stria_bits_as<float>((stria_u32)x << 16); }
__device__ inline stria_u16 stria_to_bf16(float x) {
  const stria_u32 bits = stria_bits_as<stria_u32>(x);
  return x != x ? (stria_u16)(bits >> 16 | 0x40u) : (stria_u16)((bits + ((bits >> 16 & 1u) + 0x7fffu)) >> 16);
}
// Toward zero, the last bit set if anything was lost, so that a second rounding is as if it were
// the only one.
__device__ inline float stria_to_odd(double x) { const float f = __double2float_rz(x); return (double)f != x && x == x ? stria_bits_as<float>(stria_bits_as<stria_u32>(f) | 1u) : f; }
__device__ inline float stria_to_odd(long x) { const float f = __ll2float_rz(x); return (long)f != x ? stria_bits_as<float>(stria_bits_as<stria_u32>(f) | 1u) : f; }
__device__ inline float stria_to_odd(stria_u64 x) { const float f = __ull2float_rz(x); return (stria_u64)f != x ? stria_bits_as<float>(stria_bits_as<stria_u32>(f) | 1u) : f; }
__device__ inline float stria_to_odd(int x) { return stria_to_odd((long)x); }
__device__ inline float stria_to_odd(stria_u32 x) { return stria_to_odd((long)x); }

// ---- the same, lane by lane
#define STRIA_EACH(name, call) template <typename T, int N> __device__ stria_lanes<T, N> name(stria_lanes<T, N> x) { for (int i = 0; i < N; ++i) x.v[i] = call(x.v[i]); return x; }
#define STRIA_EACH_2(name, call) template <typename T, int N> __device__ stria_lanes<T, N> name(stria_lanes<T, N> x, stria_lanes<T, N> y) { for (int i = 0; i < N; ++i) x.v[i] = call(x.v[i], y.v[i]); return x; }
STRIA_EACH(stria_sqrt, sqrt) STRIA_EACH(stria_floor, floor) STRIA_EACH(stria_ceil, ceil) STRIA_EACH(stria_trunc, trunc) STRIA_EACH(stria_rint, rint) STRIA_EACH(stria_round, round)
STRIA_EACH(stria_fabs, fabs) STRIA_EACH(stria_exp, exp) STRIA_EACH(stria_log, log) STRIA_EACH(stria_sin, sin) STRIA_EACH(stria_cos, cos) STRIA_EACH(stria_tan, tan)
STRIA_EACH(stria_asin, asin) STRIA_EACH(stria_acos, acos) STRIA_EACH(stria_atan, atan) STRIA_EACH(stria_sinh, sinh) STRIA_EACH(stria_cosh, cosh) STRIA_EACH(stria_tanh, tanh)
STRIA_EACH(stria_asinh, asinh) STRIA_EACH(stria_acosh, acosh) STRIA_EACH(stria_atanh, atanh)
STRIA_EACH_2(stria_pow, pow) STRIA_EACH_2(stria_fmod, fmod) STRIA_EACH_2(stria_nan_max, stria_nan_max) STRIA_EACH_2(stria_nan_min, stria_nan_min)
STRIA_EACH_2(stria_lesser, stria_lesser) STRIA_EACH_2(stria_greater, stria_greater) STRIA_EACH_2(stria_floor_div, stria_floor_div)
#undef STRIA_EACH
#undef STRIA_EACH_2
template <typename T> __device__ T stria_absolute(T x) { return x < 0 ? (T)(0 - (stria_u64)x) : x; }
template <typename T, int N> __device__ stria_lanes<T, N> stria_absolute(stria_lanes<T, N> x) { for (int i = 0; i < N; ++i) x.v[i] = stria_absolute(x.v[i]); return x; }
template <typename T, int N> __device__ stria_lanes<T, N> stria_fma(stria_lanes<T, N> a, stria_lanes<T, N> b, stria_lanes<T, N> c) { for (int i = 0; i < N; ++i) c.v[i] = fma(a.v[i], b.v[i], c.v[i]); return c; }
#define STRIA_CONVERT(name, call) template <typename To, typename From, int N> __device__ To name(stria_lanes<From, N> x) { To out; for (int i = 0; i < N; ++i) out.v[i] = call(x.v[i]); return out; }
STRIA_CONVERT(stria_converted, (decltype(out.v[0] + 0))) STRIA_CONVERT(stria_lanes_from_fp16, stria_from_fp16) STRIA_CONVERT(stria_lanes_from_bf16, stria_from_bf16)
STRIA_CONVERT(stria_lanes_to_fp16, stria_to_fp16) STRIA_CONVERT(stria_lanes_to_bf16, stria_to_bf16) STRIA_CONVERT(stria_lanes_to_odd, stria_to_odd)
#undef STRIA_CONVERT
template <typename To, typename T, typename From, int N> __device__ To stria_lanes_saturated(stria_lanes<From, N> x) { To out; for (int i = 0; i < N; ++i) out.v[i] = stria_saturated<T>(x.v[i]); return out; }
#define STRIA_TYPES(N) \
  typedef stria_lanes<stria_i8, N> stria_i8_x##N; typedef stria_lanes<short, N> stria_i16_x##N; \
  typedef stria_lanes<int, N> stria_i32_x##N; typedef stria_lanes<long, N> stria_i64_x##N; \
  typedef stria_lanes<stria_u8, N> stria_u8_x##N; typedef stria_lanes<stria_u16, N> stria_u16_x##N; \
  typedef stria_lanes<stria_u32, N> stria_u32_x##N; typedef stria_lanes<stria_u64, N> stria_u64_x##N; \
  typedef stria_lanes<float, N> stria_fp32_x##N; typedef stria_lanes<double, N> stria_fp64_x##N;
STRIA_TYPES(2) STRIA_TYPES(4) STRIA_TYPES(8) STRIA_TYPES(16)
#undef STRIA_TYPES
)";
}

}  // namespace stria::cuda
