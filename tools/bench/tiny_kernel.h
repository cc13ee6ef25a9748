// SPDX-License-Identifier: Apache-2.0
// A kernel so short that what is timed is what starting it costs.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace stria::bench {

// Device Stripe of R = A + A over `count` floats: one kernel, whose arguments are R and A.
inline std::string elementwise(int64_t count) {
  return fmt::format(R"(stripe 1.0
0: #program block [] ( // bench
    none new@0 A[0] fp32({0}:1)
    none new@0 R[0] fp32({0}:1)
) {{
  0: #main block [] ( // main
      in A[0] fp32({0}:1)
      out R[0] fp32({0}:1)
  ) {{
    0: #kernel #parallel block [x:{0}] ( // tiny
        in A[x] fp32(1:1)
        out R[x] fp32(1:1)
    ) {{
      0: $a = load(A)
      1: $r = add.fp32($a, $a)
      2: R = store($r)
    }}
  }}
}}
)",
                     count);
}

}  // namespace stria::bench
