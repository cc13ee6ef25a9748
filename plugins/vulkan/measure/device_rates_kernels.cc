// SPDX-License-Identifier: Apache-2.0
#include "measure/device_rates_kernels.h"

#include <fmt/format.h>

namespace stria::vulkan {
namespace {

// Chains begin with other elements of A for each lane: otherwise a compiler would make one of them,
// or have a unit for whole subgroups compute it.
constexpr int64_t kChains = 8;
constexpr int64_t kStepsWritten = 32;  // of each chain, one after the other: the loop hardly counts
constexpr int64_t kChainStepsWritten = 128;

}  // namespace

std::string rates_text(int64_t groups) {
  return fmt::format(
      R"(stripe 1.0
0: #program block [] (
    none new@0x0 A[0] fp32({A}:1)
    none new@0x0 B[0] fp32(1:1)
    none new@0x0 C[0] fp32(1:1)
    none new@0x0 R[0] fp32({N}:1)
) {{
  0: #main block [] (
      in A[0] fp32({A}:1)
      in B[0] fp32(1:1)
      in C[0] fp32(1:1)
      out R[0] fp32({N}:1)
  ) {{
    0: #kernel #parallel block [g:{G}, l:{L}] ( // multiply_add
        in A[l] fp32(1:1)
        in B[0] fp32(1:1)
        in C[0] fp32(1:1)
        out R[{L}*g + l] fp32(1:1)
        none new@0x0<REG> b[0] fp32(1:1)
        none new@0x0<REG> c[0] fp32(1:1)
        none new@0x0<REG> r[0] fp32(1:1)
        none new@0x0<REG> s[0] fp32({H}:1)
    ) {{
      0: $b = load(B)
      1: b = store($b)
      2: $c = load(C)
      3: c = store($c)
      4: #unroll block [n:{H}] (
          in A[n] fp32(1:1)
          out s[n] fp32(1:1)
      ) {{
        0: $a = load(A)
        1: s = store($a)
      }}
      5: block [p:{P}] (
          in b[0] fp32(1:1)
          in c[0] fp32(1:1)
          inout s[0]:add.fp32 fp32({H}:1)
      ) {{
        0: #unroll block [q:{Q}, n:{H}] (
            in b[0] fp32(1:1)
            in c[0] fp32(1:1)
            inout s[n]:add.fp32 fp32(1:1)
        ) {{
          0: $b = load(b)
          1: $c = load(c)
          2: $m = mul.fp32($b, $c)
          3: s = store($m)
        }}
      }}
      6: $z = (fp32)0.0
      7: r = store($z)
      8: #unroll block [n:{H}] (
          in s[n] fp32(1:1)
          inout r[0]:add.fp32 fp32(1:1)
      ) {{
        0: $s = load(s)
        1: r = store($s)
      }}
      9: $r = load(r)
      10: R = store($r)
    }}
    1: #kernel #parallel block [x:16] ( // small
        in A[x] fp32(1:1)
        out R[x] fp32(1:1)
    ) {{
      0: $a = load(A)
      1: R = store($a)
    }}
  }}
}}
)",
      fmt::arg("A", kGroupPointsOfRates + kChains), fmt::arg("G", groups),
      fmt::arg("L", kGroupPointsOfRates), fmt::arg("N", groups * kGroupPointsOfRates),
      fmt::arg("H", kChains), fmt::arg("Q", kStepsWritten),
      fmt::arg("P", kLaneMultiplyAdds / kChains / kStepsWritten));
}

std::string beside_text(int64_t units, int64_t lanes, int64_t elements, int64_t most) {
  std::string kernels;
  for (int64_t n = 1; n <= most; ++n)
    kernels += fmt::format(
        R"(    {I}: #kernel #group block<CU[g]> [g:{G}] ( // beside
        in A[0] fp32({L}:1)
        in B[0] fp32(1:1)
        in C[0] fp32(1:1)
        out R[{L}*g] fp32({L}:1)
        none new@0x0<LOCAL> S[0] fp32({E}:1)
    ) {{
      0: block<LANE[l]> [l:{L}] (
          in A[l] fp32(1:1)
          out<LOCAL> S[{D}*l] fp32(1:1)
      ) {{
        0: $a = load(A)
        1: S = store($a)
      }}
      1: special barrier()
      2: block<LANE[l]> [l:{L}] (
          in B[0] fp32(1:1)
          in C[0] fp32(1:1)
          in<LOCAL> S[{F} - {D}*l] fp32(1:1)
          out R[l] fp32(1:1)
          none new@0x0<REG> b[0] fp32(1:1)
          none new@0x0<REG> c[0] fp32(1:1)
          none new@0x0<REG> s[0] fp32(1:1)
      ) {{
        0: $b = load(B)
        1: b = store($b)
        2: $c = load(C)
        3: c = store($c)
        4: $s = load(S)
        5: s = store($s)
        6: block [p:{P}] (
            in b[0] fp32(1:1)
            in c[0] fp32(1:1)
            inout s[0]:add.fp32 fp32(1:1)
        ) {{
          0: #unroll block [q:{Q}] (
              in b[0] fp32(1:1)
              in c[0] fp32(1:1)
              inout s[0]:add.fp32 fp32(1:1)
          ) {{
            0: $b = load(b)
            1: $c = load(c)
            2: $m = mul.fp32($b, $c)
            3: s = store($m)
          }}
        }}
        7: $r = load(s)
        8: R = store($r)
      }}
    }}
)",
        fmt::arg("I", n - 1), fmt::arg("G", n * units), fmt::arg("L", lanes),
        fmt::arg("E", elements), fmt::arg("D", elements / lanes),
        fmt::arg("F", elements / lanes * (lanes - 1)), fmt::arg("Q", kChainStepsWritten),
        fmt::arg("P", kChainMultiplyAdds / kChainStepsWritten));
  return fmt::format(
      R"(stripe 1.0
0: #program block [] (
    none new@0x0 A[0] fp32({L}:1)
    none new@0x0 B[0] fp32(1:1)
    none new@0x0 C[0] fp32(1:1)
    none new@0x0 R[0] fp32({N}:1)
) {{
  0: #main block [] (
      in A[0] fp32({L}:1)
      in B[0] fp32(1:1)
      in C[0] fp32(1:1)
      out R[0] fp32({N}:1)
  ) {{
{K}  }}
}}
)",
      fmt::arg("L", lanes), fmt::arg("N", units * most * lanes), fmt::arg("K", kernels));
}

}  // namespace stria::vulkan
