// SPDX-License-Identifier: Apache-2.0
#include "legal_agents.h"

#include <fmt/format.h>

#include <vector>

#include "dice.h"

namespace stria::trust {
namespace {

// One ring: what role `from` makes and role `from + 1` takes.
struct Ring {
  std::string rows, full, free;
};

class AgentsMaker {
 public:
  explicit AgentsMaker(uint64_t seed) : dice_(seed ^ 0x6167656e) {}

  AgentsProgram make() {
    out_.roles = dice_.between(2, 4);
    out_.stages = dice_.between(1, 3);
    out_.turns = dice_.between(1, 3);
    columns_ = dice_.between(1, 5);
    lanes_ = dice_.once_in(2);
    type_ = dice_.one_of<std::string>({"i32", "fp32", "i8"});
    for (int64_t r = 0; r + 1 < out_.roles; ++r)
      rings_.push_back(
          {fmt::format("ring{}", r), fmt::format("full{}", r), fmt::format("free{}", r)});
    tensors_ =
        fmt::format("[0, 0] {}({}:{}, {}:1)", type_, out_.stages * out_.turns, columns_, columns_);
    ring_ = fmt::format("[0, 0] {}({}:{}, {}:1)", type_, out_.stages, columns_, columns_);
    phases_ = fmt::format("[0, 0] u64({}:1, {}:0)", out_.stages, out_.turns);
    std::string text = "stripe 1.1\n0: #program block [] (\n";
    text += "    none new@0x0 A" + tensors_ + "\n    none new@0x0 C" + tensors_ + "\n) {\n";
    text +=
        "  0: #main block [] (\n      in A" + tensors_ + "\n      out C" + tensors_ + "\n  ) {\n";
    text += "    0: #kernel block [] ( // chain\n        in A" + tensors_ + "\n        out C" +
            tensors_ + "\n";
    for (const Ring& ring : rings_) {
      text += "        none new@0x0<SRAM> " + ring.rows + ring_ + "\n";
      for (const std::string& name : {ring.full, ring.free})
        text += "        #arrivals=1 none new@0x0<SRAM> " + name + phases_ + "\n";
    }
    text += "    ) {\n      0: #roles block [] (\n          in A" + tensors_ + "\n          out C" +
            tensors_ + "\n";
    for (const Ring& ring : rings_)
      text += "          inout " + ring.rows + ring_ + "\n          inout " + ring.full + phases_ +
              "\n          inout " + ring.free + phases_ + "\n";
    text += "      ) {\n";
    for (int64_t r = 0; r < out_.roles; ++r) text += role(r);
    out_.text = text + "      }\n    }\n  }\n}\n";
    return std::move(out_);
  }

 private:
  // A view of one row of a ring, or of a tensor.
  std::string row(const std::string& of, const std::string& at) const {
    return fmt::format("{}[{}, 0] {}(1:{}, {}:1)", of, at, type_, columns_, columns_);
  }

  std::string role(int64_t r) {
    const bool first = r == 0, last = r + 1 == out_.roles;
    const std::string from = first ? "A" : rings_[static_cast<size_t>(r) - 1].rows;
    const std::string to = last ? "C" : rings_[static_cast<size_t>(r)].rows;
    const std::string all = fmt::format("{}*q + s", out_.stages);
    std::string text = fmt::format("        {}: block<CORE[{}]> [q:{}, s:{}] (\n", r, r % 2,
                                   out_.turns, out_.stages);
    text += "            in " + row(from, first ? all : "s") + "\n";
    text += "            out " + row(to, last ? all : "s") + "\n";
    std::vector<std::string> waits, arrives;
    if (!first) {
      const Ring& ring = rings_[static_cast<size_t>(r) - 1];
      text += "            in " + ring.full + "[s, q] u64(1:1, 1:0)\n";
      text += "            out " + ring.free + "[s, q] u64(1:1, 1:0)\n";
      waits.push_back(ring.full);
      arrives.push_back(ring.free);
    }
    if (!last) {
      const Ring& ring = rings_[static_cast<size_t>(r)];
      text += "            in " + ring.free + "[s, q - 1] u64(1:1, 1:0)\n";
      text += "            out " + ring.full + "[s, q] u64(1:1, 1:0)\n";
      waits.push_back(ring.free);
      arrives.push_back(ring.full);
    }
    if (dice_.once_in(2) && waits.size() > 1) std::swap(waits[0], waits[1]);
    if (dice_.once_in(2) && arrives.size() > 1) std::swap(arrives[0], arrives[1]);
    text += "        ) {\n";
    int64_t n = 0;
    for (const std::string& name : waits)
      text += fmt::format("          {}: special wait({})\n", n++, name);
    // Its end says what the role would say. The last role ends before the rings do.
    const bool async = !last && dice_.once_in(2);
    text += fmt::format("          {}: {}block{} [] (\n", n++,
                        async ? (dice_.once_in(2) ? "#async " : "#async #in_order ") : "",
                        async ? fmt::format("<CONV[{}]>", dice_.below(2)) : "");
    text += "              in " + row(from, "0") + "\n              out " + row(to, "0") + "\n";
    if (async)
      for (const std::string& name : arrives)
        text += "              out " + name + "[0, 0] u64(1:1, 1:0)\n";
    text += "          ) {\n";
    text += fmt::format("            0: block{} [i:{}] (\n", lanes_ && !async ? "<LANE[i]>" : "",
                        lanes_ && !async ? std::min<int64_t>(columns_, 4) : columns_);
    const int64_t reach = lanes_ && !async ? std::min<int64_t>(columns_, 4) : columns_;
    text += fmt::format("                in {}[0, i] {}(1:{}, 1:1)\n", from, type_, columns_);
    text += fmt::format("                out {}[0, i] {}(1:{}, 1:1)\n", to, type_, columns_);
    text += "            ) {\n";
    text += "              0: $x = load(" + from + ")\n";
    const bool changes = dice_.once_in(2);
    if (changes) text += fmt::format("              1: $y = add.{}($x, $x)\n", type_);
    text += fmt::format("              {}: {} = store(${})\n            }}\n", changes ? 2 : 1, to,
                        changes ? "y" : "x");
    for (int64_t rest = reach; rest < columns_; ++rest)
      text += fmt::format(
          "            {0}: block<LANE[i]> [i:1] (\n                in {1}[0, {5} + i] {2}(1:{3}, "
          "1:1)\n                out {4}[0, {5} + i] {2}(1:{3}, 1:1)\n            ) {{\n"
          "              0: $x = load({1})\n              1: {4} = store($x)\n            }}\n",
          rest - reach + 1, from, type_, columns_, to, rest);
    text += "          }\n";
    if (!async)
      for (const std::string& name : arrives)
        text += fmt::format("          {}: special arrive(; {})\n", n++, name);
    return text + "        }\n";
  }

  Dice dice_;
  AgentsProgram out_;
  int64_t columns_ = 1;
  bool lanes_ = false;
  std::string type_, tensors_, ring_, phases_;
  std::vector<Ring> rings_;
};

}  // namespace

AgentsProgram agents_program(uint64_t seed) { return AgentsMaker(seed).make(); }

}  // namespace stria::trust
