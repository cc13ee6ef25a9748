// SPDX-License-Identifier: Apache-2.0
// Small programs for the plugin `vulkan`, beside those of queued_device.h.
#pragma once

#include <string>

#include "queued_device.h"

namespace stria::hal {

// R = A0 + A1 + … of `count` tensors: more arguments than push constants hold.
inline std::string sum_of(int count) {
  std::string all, main, kernel, loads;
  for (int i = 0; i < count; ++i) {
    all += fmt::format("    none new@0 A{}[0] fp32(64:1)\n", i);
    main += fmt::format("      in A{}[0] fp32(64:1)\n", i);
    kernel += fmt::format("        in A{}[x] fp32(1:1)\n", i);
    loads += fmt::format("      {}: $a{} = load(A{})\n", i, i, i);
  }
  int n = count;
  for (int i = 1; i < count; ++i, ++n)
    loads += fmt::format("      {}: $s{} = add.fp32({}, $a{})\n", n, i,
                         i == 1 ? "$a0" : fmt::format("$s{}", i - 1), i);
  return fmt::format(R"(stripe 1.0
0: #program block [] ( // sum
{}    none new@0 R[0] fp32(64:1)
) {{
  0: #main block [] ( // main
{}      out R[0] fp32(64:1)
  ) {{
    0: #kernel #parallel block [x:64] ( // sum_them
{}        out R[x] fp32(1:1)
    ) {{
{}      {}: R = store($s{})
    }}
  }}
}}
)",
                     all, main, kernel, loads, n, count - 1);
}

inline Plugin load_vulkan(const std::string& options = "{}") {
  return load_with("vulkan", options);
}

}  // namespace stria::hal
