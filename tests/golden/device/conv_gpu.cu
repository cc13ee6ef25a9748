typedef signed char i8;
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

extern "C" __global__ void __launch_bounds__(256)
k0_conv_relu( float* __restrict__ R_base, const u64 R_at,  const float* __restrict__ D_base, const u64 D_at,  const float* __restrict__ K_base, const u64 K_at)
{
   float* __restrict__ R = R_base + R_at;
   const float* __restrict__ D = D_base + D_at;
   const float* __restrict__ K = K_base + K_at;
  __shared__ float Ds[1570];
  __shared__ float Ks[1588];
  float acc[8];
  const long group = (long)blockIdx.x;
  const long lane = (long)threadIdx.x;
  const long co = group % 2L;
  const long y = (group / 2L) % 112L;
  const long x = ((group / 2L) / 112L) % 112L;
  const long n = ((group / 2L) / 112L) / 112L;
  const long c = lane % 8L;
  const long y_1 = (lane / 8L) % 2L;
  const long x_1 = (lane / 16L) % 2L;
  const long n_1 = lane / 32L;
  const long n_2 = (lane / 8L) % 16L;
  const long yl = lane / 128L;
  const long o = ((((c + (n * 51380224L)) + (n_2 * 3211264L)) + (x * 28672L)) + (y * 128L)) + (yl * 64L);
  const long o_5 = ((c * 49L) + (n_2 * 3L)) + (yl * 393L);
  const long co_1 = lane / 8L;
  const long o_8 = (c + (co * 2048L)) + (co_1 * 64L);
  const long o_13 = (c * 33L) + co_1;
  const long o_16 = ((n_1 * 3L) + x_1) + (y_1 * 393L);
  const long o_48 = ((((((c + (co * 32L)) + (n * 51380224L)) + (n_1 * 3211264L)) + (x * 28672L)) + (x_1 * 14336L)) + (y * 128L)) + (y_1 * 64L);
  acc[0] = 0.0f;
  acc[4] = 0.0f;
  acc[1] = 0.0f;
  acc[5] = 0.0f;
  acc[2] = 0.0f;
  acc[6] = 0.0f;
  acc[3] = 0.0f;
  acc[7] = 0.0f;
  for (long ci = 0L; ci < 8L; ++ci) {
    const long o_1 = o + (ci * 8L);
    const long o_9 = o_8 + (ci * 8L);
    for (long i = 0L; i < 2L; ++i) {
      const long o_2 = o_1 + (i * 28672L);
      const long o_10 = o_9 + (i * 24576L);
      for (long yh = 0L; yh < 2L; ++yh) {
        const long o_3 = o_2 + (yh * 128L);
        const long o_6 = o_5 + (yh * 786L);
        for (long x_2 = 0L; x_2 < 3L; ++x_2) {
          const long o_4 = o_3 + (x_2 * 14336L);
          const long o_7 = o_6 + x_2;
          const long clamped = lesser(greater((o_4 + (-14400L)), 0L), 102760447L);
          const float d = D[clamped];
          Ds[o_7] = d;
        }
      }
      for (long il = 0L; il < 2L; ++il) {
        const long o_11 = o_10 + (il * 12288L);
        const long o_14 = o_13 + (il * 795L);
        for (long j = 0L; j < 3L; ++j) {
          const long o_12 = o_11 + (j * 4096L);
          const long o_15 = o_14 + (j * 265L);
          const long clamped_1 = lesser(greater(o_12, 0L), 36863L);
          const float k = K[clamped_1];
          Ks[o_15] = k;
        }
      }
      __syncthreads();
      if ((((1L <= ((i * 2L) + (x * 2L))) && (((i * 2L) + (x * 2L)) <= 222L)) && (1L <= (y * 2L))) && ((y * 2L) <= 221L)) {
        for (long il_1 = 0L; il_1 < lesser(2L, (3L - (i * 2L))); ++il_1) {
          const long o_17 = o_16 + il_1;
          const long o_20 = c + (il_1 * 795L);
          for (long ci_1 = 0L; ci_1 < 8L; ++ci_1) {
            const long o_18 = o_17 + (ci_1 * 49L);
            const long o_21 = o_20 + (ci_1 * 33L);
            for (long j_1 = 0L; j_1 < 3L; ++j_1) {
              const long o_19 = o_18 + (j_1 * 393L);
              const long o_22 = o_21 + (j_1 * 265L);
              const float d_1 = Ds[o_19];
              const float k_1 = Ks[o_22];
              const float m = d_1 * k_1;
              const float sum = acc[0];
              const float sum_1 = fma(d_1, k_1, sum);
              acc[0] = sum_1;
              const float d_2 = Ds[o_19 + 24];
              const float k_2 = Ks[o_22];
              const float m_1 = d_2 * k_2;
              const float sum_2 = acc[4];
              const float sum_3 = fma(d_2, k_2, sum_2);
              acc[4] = sum_3;
              const float d_3 = Ds[o_19];
              const float k_3 = Ks[o_22 + 8];
              const float m_2 = d_3 * k_3;
              const float sum_4 = acc[1];
              const float sum_5 = fma(d_3, k_3, sum_4);
              acc[1] = sum_5;
              const float d_4 = Ds[o_19 + 24];
              const float k_4 = Ks[o_22 + 8];
              const float m_3 = d_4 * k_4;
              const float sum_6 = acc[5];
              const float sum_7 = fma(d_4, k_4, sum_6);
              acc[5] = sum_7;
              const float d_5 = Ds[o_19];
              const float k_5 = Ks[o_22 + 16];
              const float m_4 = d_5 * k_5;
              const float sum_8 = acc[2];
              const float sum_9 = fma(d_5, k_5, sum_8);
              acc[2] = sum_9;
              const float d_6 = Ds[o_19 + 24];
              const float k_6 = Ks[o_22 + 16];
              const float m_5 = d_6 * k_6;
              const float sum_10 = acc[6];
              const float sum_11 = fma(d_6, k_6, sum_10);
              acc[6] = sum_11;
              const float d_7 = Ds[o_19];
              const float k_7 = Ks[o_22 + 24];
              const float m_6 = d_7 * k_7;
              const float sum_12 = acc[3];
              const float sum_13 = fma(d_7, k_7, sum_12);
              acc[3] = sum_13;
              const float d_8 = Ds[o_19 + 24];
              const float k_8 = Ks[o_22 + 24];
              const float m_7 = d_8 * k_8;
              const float sum_14 = acc[7];
              const float sum_15 = fma(d_8, k_8, sum_14);
              acc[7] = sum_15;
            }
          }
        }
      }
      if (((i * 2L) + (x * 2L)) <= 0L) {
        for (long il_2 = greater(0L, (((1L - (i * 2L)) - (x * 2L)) - x_1)); il_2 < lesser(lesser(2L, (3L - (i * 2L))), (((225L - (i * 2L)) - (x * 2L)) - x_1)); ++il_2) {
          const long o_23 = o_16 + il_2;
          const long o_26 = c + (il_2 * 795L);
          for (long ci_2 = 0L; ci_2 < 8L; ++ci_2) {
            const long o_24 = o_23 + (ci_2 * 49L);
            const long o_27 = o_26 + (ci_2 * 33L);
            for (long j_2 = greater(0L, ((1L - (y * 2L)) - y_1)); j_2 < lesser(3L, ((225L - (y * 2L)) - y_1)); ++j_2) {
              const long o_25 = o_24 + (j_2 * 393L);
              const long o_28 = o_27 + (j_2 * 265L);
              const float d_9 = Ds[o_25];
              const float k_9 = Ks[o_28];
              const float m_8 = d_9 * k_9;
              const float sum_16 = acc[0];
              const float sum_17 = fma(d_9, k_9, sum_16);
              acc[0] = sum_17;
              const float d_10 = Ds[o_25 + 24];
              const float k_10 = Ks[o_28];
              const float m_9 = d_10 * k_10;
              const float sum_18 = acc[4];
              const float sum_19 = fma(d_10, k_10, sum_18);
              acc[4] = sum_19;
              const float d_11 = Ds[o_25];
              const float k_11 = Ks[o_28 + 8];
              const float m_10 = d_11 * k_11;
              const float sum_20 = acc[1];
              const float sum_21 = fma(d_11, k_11, sum_20);
              acc[1] = sum_21;
              const float d_12 = Ds[o_25 + 24];
              const float k_12 = Ks[o_28 + 8];
              const float m_11 = d_12 * k_12;
              const float sum_22 = acc[5];
              const float sum_23 = fma(d_12, k_12, sum_22);
              acc[5] = sum_23;
              const float d_13 = Ds[o_25];
              const float k_13 = Ks[o_28 + 16];
              const float m_12 = d_13 * k_13;
              const float sum_24 = acc[2];
              const float sum_25 = fma(d_13, k_13, sum_24);
              acc[2] = sum_25;
              const float d_14 = Ds[o_25 + 24];
              const float k_14 = Ks[o_28 + 16];
              const float m_13 = d_14 * k_14;
              const float sum_26 = acc[6];
              const float sum_27 = fma(d_14, k_14, sum_26);
              acc[6] = sum_27;
              const float d_15 = Ds[o_25];
              const float k_15 = Ks[o_28 + 24];
              const float m_14 = d_15 * k_15;
              const float sum_28 = acc[3];
              const float sum_29 = fma(d_15, k_15, sum_28);
              acc[3] = sum_29;
              const float d_16 = Ds[o_25 + 24];
              const float k_16 = Ks[o_28 + 24];
              const float m_15 = d_16 * k_16;
              const float sum_30 = acc[7];
              const float sum_31 = fma(d_16, k_16, sum_30);
              acc[7] = sum_31;
            }
          }
        }
      }
      if (223L <= ((i * 2L) + (x * 2L))) {
        for (long il_3 = greater(0L, (((1L - (i * 2L)) - (x * 2L)) - x_1)); il_3 < lesser(lesser(2L, (3L - (i * 2L))), (((225L - (i * 2L)) - (x * 2L)) - x_1)); ++il_3) {
          const long o_29 = o_16 + il_3;
          const long o_32 = c + (il_3 * 795L);
          for (long ci_3 = 0L; ci_3 < 8L; ++ci_3) {
            const long o_30 = o_29 + (ci_3 * 49L);
            const long o_33 = o_32 + (ci_3 * 33L);
            for (long j_3 = greater(0L, ((1L - (y * 2L)) - y_1)); j_3 < lesser(3L, ((225L - (y * 2L)) - y_1)); ++j_3) {
              const long o_31 = o_30 + (j_3 * 393L);
              const long o_34 = o_33 + (j_3 * 265L);
              const float d_17 = Ds[o_31];
              const float k_17 = Ks[o_34];
              const float m_16 = d_17 * k_17;
              const float sum_32 = acc[0];
              const float sum_33 = fma(d_17, k_17, sum_32);
              acc[0] = sum_33;
              const float d_18 = Ds[o_31 + 24];
              const float k_18 = Ks[o_34];
              const float m_17 = d_18 * k_18;
              const float sum_34 = acc[4];
              const float sum_35 = fma(d_18, k_18, sum_34);
              acc[4] = sum_35;
              const float d_19 = Ds[o_31];
              const float k_19 = Ks[o_34 + 8];
              const float m_18 = d_19 * k_19;
              const float sum_36 = acc[1];
              const float sum_37 = fma(d_19, k_19, sum_36);
              acc[1] = sum_37;
              const float d_20 = Ds[o_31 + 24];
              const float k_20 = Ks[o_34 + 8];
              const float m_19 = d_20 * k_20;
              const float sum_38 = acc[5];
              const float sum_39 = fma(d_20, k_20, sum_38);
              acc[5] = sum_39;
              const float d_21 = Ds[o_31];
              const float k_21 = Ks[o_34 + 16];
              const float m_20 = d_21 * k_21;
              const float sum_40 = acc[2];
              const float sum_41 = fma(d_21, k_21, sum_40);
              acc[2] = sum_41;
              const float d_22 = Ds[o_31 + 24];
              const float k_22 = Ks[o_34 + 16];
              const float m_21 = d_22 * k_22;
              const float sum_42 = acc[6];
              const float sum_43 = fma(d_22, k_22, sum_42);
              acc[6] = sum_43;
              const float d_23 = Ds[o_31];
              const float k_23 = Ks[o_34 + 24];
              const float m_22 = d_23 * k_23;
              const float sum_44 = acc[3];
              const float sum_45 = fma(d_23, k_23, sum_44);
              acc[3] = sum_45;
              const float d_24 = Ds[o_31 + 24];
              const float k_24 = Ks[o_34 + 24];
              const float m_23 = d_24 * k_24;
              const float sum_46 = acc[7];
              const float sum_47 = fma(d_24, k_24, sum_46);
              acc[7] = sum_47;
            }
          }
        }
      }
      if (((1L <= ((i * 2L) + (x * 2L))) && (((i * 2L) + (x * 2L)) <= 222L)) && ((y * 2L) <= 0L)) {
        for (long il_4 = greater(0L, (((1L - (i * 2L)) - (x * 2L)) - x_1)); il_4 < lesser(lesser(2L, (3L - (i * 2L))), (((225L - (i * 2L)) - (x * 2L)) - x_1)); ++il_4) {
          const long o_35 = o_16 + il_4;
          const long o_38 = c + (il_4 * 795L);
          for (long ci_4 = 0L; ci_4 < 8L; ++ci_4) {
            const long o_36 = o_35 + (ci_4 * 49L);
            const long o_39 = o_38 + (ci_4 * 33L);
            for (long j_4 = greater(0L, ((1L - (y * 2L)) - y_1)); j_4 < lesser(3L, ((225L - (y * 2L)) - y_1)); ++j_4) {
              const long o_37 = o_36 + (j_4 * 393L);
              const long o_40 = o_39 + (j_4 * 265L);
              const float d_25 = Ds[o_37];
              const float k_25 = Ks[o_40];
              const float m_24 = d_25 * k_25;
              const float sum_48 = acc[0];
              const float sum_49 = fma(d_25, k_25, sum_48);
              acc[0] = sum_49;
              const float d_26 = Ds[o_37 + 24];
              const float k_26 = Ks[o_40];
              const float m_25 = d_26 * k_26;
              const float sum_50 = acc[4];
              const float sum_51 = fma(d_26, k_26, sum_50);
              acc[4] = sum_51;
              const float d_27 = Ds[o_37];
              const float k_27 = Ks[o_40 + 8];
              const float m_26 = d_27 * k_27;
              const float sum_52 = acc[1];
              const float sum_53 = fma(d_27, k_27, sum_52);
              acc[1] = sum_53;
              const float d_28 = Ds[o_37 + 24];
              const float k_28 = Ks[o_40 + 8];
              const float m_27 = d_28 * k_28;
              const float sum_54 = acc[5];
              const float sum_55 = fma(d_28, k_28, sum_54);
              acc[5] = sum_55;
              const float d_29 = Ds[o_37];
              const float k_29 = Ks[o_40 + 16];
              const float m_28 = d_29 * k_29;
              const float sum_56 = acc[2];
              const float sum_57 = fma(d_29, k_29, sum_56);
              acc[2] = sum_57;
              const float d_30 = Ds[o_37 + 24];
              const float k_30 = Ks[o_40 + 16];
              const float m_29 = d_30 * k_30;
              const float sum_58 = acc[6];
              const float sum_59 = fma(d_30, k_30, sum_58);
              acc[6] = sum_59;
              const float d_31 = Ds[o_37];
              const float k_31 = Ks[o_40 + 24];
              const float m_30 = d_31 * k_31;
              const float sum_60 = acc[3];
              const float sum_61 = fma(d_31, k_31, sum_60);
              acc[3] = sum_61;
              const float d_32 = Ds[o_37 + 24];
              const float k_32 = Ks[o_40 + 24];
              const float m_31 = d_32 * k_32;
              const float sum_62 = acc[7];
              const float sum_63 = fma(d_32, k_32, sum_62);
              acc[7] = sum_63;
            }
          }
        }
      }
      if (((1L <= ((i * 2L) + (x * 2L))) && (((i * 2L) + (x * 2L)) <= 222L)) && (222L <= (y * 2L))) {
        for (long il_5 = greater(0L, (((1L - (i * 2L)) - (x * 2L)) - x_1)); il_5 < lesser(lesser(2L, (3L - (i * 2L))), (((225L - (i * 2L)) - (x * 2L)) - x_1)); ++il_5) {
          const long o_41 = o_16 + il_5;
          const long o_44 = c + (il_5 * 795L);
          for (long ci_5 = 0L; ci_5 < 8L; ++ci_5) {
            const long o_42 = o_41 + (ci_5 * 49L);
            const long o_45 = o_44 + (ci_5 * 33L);
            for (long j_5 = greater(0L, ((1L - (y * 2L)) - y_1)); j_5 < lesser(3L, ((225L - (y * 2L)) - y_1)); ++j_5) {
              const long o_43 = o_42 + (j_5 * 393L);
              const long o_46 = o_45 + (j_5 * 265L);
              const float d_33 = Ds[o_43];
              const float k_33 = Ks[o_46];
              const float m_32 = d_33 * k_33;
              const float sum_64 = acc[0];
              const float sum_65 = fma(d_33, k_33, sum_64);
              acc[0] = sum_65;
              const float d_34 = Ds[o_43 + 24];
              const float k_34 = Ks[o_46];
              const float m_33 = d_34 * k_34;
              const float sum_66 = acc[4];
              const float sum_67 = fma(d_34, k_34, sum_66);
              acc[4] = sum_67;
              const float d_35 = Ds[o_43];
              const float k_35 = Ks[o_46 + 8];
              const float m_34 = d_35 * k_35;
              const float sum_68 = acc[1];
              const float sum_69 = fma(d_35, k_35, sum_68);
              acc[1] = sum_69;
              const float d_36 = Ds[o_43 + 24];
              const float k_36 = Ks[o_46 + 8];
              const float m_35 = d_36 * k_36;
              const float sum_70 = acc[5];
              const float sum_71 = fma(d_36, k_36, sum_70);
              acc[5] = sum_71;
              const float d_37 = Ds[o_43];
              const float k_37 = Ks[o_46 + 16];
              const float m_36 = d_37 * k_37;
              const float sum_72 = acc[2];
              const float sum_73 = fma(d_37, k_37, sum_72);
              acc[2] = sum_73;
              const float d_38 = Ds[o_43 + 24];
              const float k_38 = Ks[o_46 + 16];
              const float m_37 = d_38 * k_38;
              const float sum_74 = acc[6];
              const float sum_75 = fma(d_38, k_38, sum_74);
              acc[6] = sum_75;
              const float d_39 = Ds[o_43];
              const float k_39 = Ks[o_46 + 24];
              const float m_38 = d_39 * k_39;
              const float sum_76 = acc[3];
              const float sum_77 = fma(d_39, k_39, sum_76);
              acc[3] = sum_77;
              const float d_40 = Ds[o_43 + 24];
              const float k_40 = Ks[o_46 + 24];
              const float m_39 = d_40 * k_40;
              const float sum_78 = acc[7];
              const float sum_79 = fma(d_40, k_40, sum_78);
              acc[7] = sum_79;
            }
          }
        }
      }
      __syncthreads();
    }
  }
  const float o_47 = acc[0];
  const bool p = 0.0f < o_47;
  const float r = p ? o_47 : 0.0f;
  R[o_48] = r;
  const float o_49 = acc[4];
  const bool p_1 = 0.0f < o_49;
  const float r_1 = p_1 ? o_49 : 0.0f;
  R[o_48 + 25690112] = r_1;
  const float o_50 = acc[1];
  const bool p_2 = 0.0f < o_50;
  const float r_2 = p_2 ? o_50 : 0.0f;
  R[o_48 + 8] = r_2;
  const float o_51 = acc[5];
  const bool p_3 = 0.0f < o_51;
  const float r_3 = p_3 ? o_51 : 0.0f;
  R[o_48 + 25690120] = r_3;
  const float o_52 = acc[2];
  const bool p_4 = 0.0f < o_52;
  const float r_4 = p_4 ? o_52 : 0.0f;
  R[o_48 + 16] = r_4;
  const float o_53 = acc[6];
  const bool p_5 = 0.0f < o_53;
  const float r_5 = p_5 ? o_53 : 0.0f;
  R[o_48 + 25690128] = r_5;
  const float o_54 = acc[3];
  const bool p_6 = 0.0f < o_54;
  const float r_6 = p_6 ? o_54 : 0.0f;
  R[o_48 + 24] = r_6;
  const float o_55 = acc[7];
  const bool p_7 = 0.0f < o_55;
  const float r_7 = p_7 ? o_55 : 0.0f;
  R[o_48 + 25690136] = r_7;
}
