// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include "stria/base/text.h"

namespace stria::bench {

LayerNetwork layers(int64_t blocks, int64_t size, int64_t channels) {
  LayerNetwork network;
  std::vector<std::string> head = {"A0[X, Y, C]"};
  std::string body;
  network.inputs["A0"] = {DataType::i8, {size, size, channels}};
  for (int64_t n = 1; n <= blocks; ++n) {
    for (const char* name : {"K", "B", "L", "D"}) {
      const bool bias = *name == 'B' || *name == 'D';
      const std::string input = fmt::format("{}{}", name, n);
      if (bias)
        network.inputs[input] = {DataType::i32, {channels}};
      else if (*name == 'K')
        network.inputs[input] = {DataType::i8, {3, 3, channels, channels}};
      else
        network.inputs[input] = {DataType::i8, {channels, channels}};
      head.push_back(bias           ? fmt::format("{}[C]", input)
                     : *name == 'K' ? fmt::format("{}[I{}, J{}, C, C]", input, n, n)
                                    : fmt::format("{}[C, C]", input));
    }
    body += fmt::format(
        "  S{0}[x, y, o : X, Y, C] = +(A{1}[x + i - 1, y + j - 1, c] * K{0}[i, j, c, o]);\n"
        "  P{0} = as_int(max(S{0} + B{0}, 0) / 64, 8);\n"
        "  T{0}[x, y, o : X, Y, C] = +(P{0}[x, y, c] * L{0}[c, o]);\n"
        "  Q{0} = as_int((T{0} + D{0}) / 64, 8);\n"
        "  U{0} = max(Q{0} + A{1}, 0);\n"
        "  A{0}[x, y, c : X, Y, C] = >(U{0}[x + i - 1, y + j - 1, c]), i < 3, j < 3;\n",
        n, n - 1);
  }
  network.text = fmt::format("function ({}) -> (A{}) {{\n{}}}\n", join(head, ", "), blocks, body);
  return network;
}

}  // namespace stria::bench
