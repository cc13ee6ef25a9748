// SPDX-License-Identifier: Apache-2.0
#include "networks.h"

#include <vector>

#include "stria/base/text.h"

namespace stria::passes {
namespace {

struct Image {
  std::string name;
  int64_t size = 0, channels = 0;
};

// Writes statement by statement. Images are [size, size, channels], sequences [features, tokens].
class Writer {
 public:
  Network take(const std::string& result) {
    line("R = {} * 1.0", result);
    std::vector<std::string> head;
    for (const auto& [name, type] : network_.inputs) {
      std::vector<std::string> dims;
      for (size_t d = 0; d < type.sizes.size(); ++d) dims.push_back(fmt::format("{}D{}", name, d));
      head.push_back(fmt::format("{}[{}]", name, join(dims, ", ")));
    }
    network_.text = fmt::format("function ({}) -> (R) {{\n{}}}\n", join(head, ", "), body_);
    return std::move(network_);
  }

  std::string input(const std::string& what, std::vector<int64_t> sizes) {
    const std::string name = fmt::format("{}{}", what, ++names_);
    network_.inputs[name] = {DataType::fp32, std::move(sizes)};
    return name;
  }

  std::string fresh() { return fmt::format("T{}", ++names_); }

  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    body_ += "  " + fmt::format(text, std::forward<Args>(args)...) + ";\n";
  }

  // An expression of `x` alone: "max({}, 0.0)".
  Image map(const Image& x, const std::string& expression) {
    const std::string name = fresh();
    line("{} = {}", name, expression);
    return {name, x.size, x.channels};
  }
  Image relu(const Image& x) { return map(x, fmt::format("max({}, 0.0)", x.name)); }
  Image relu6(const Image& x) { return map(x, fmt::format("min(max({}, 0.0), 6.0)", x.name)); }
  Image sum(const Image& a, const Image& b) {
    return map(a, fmt::format("{} + {}", a.name, b.name));
  }

  Image convolution(const Image& x, int64_t taps, int64_t stride, int64_t channels) {
    const std::string k = input("K", {taps, taps, x.channels, channels}), out = fresh();
    const int64_t size = x.size / stride;
    line(
        "{0}[x, y, o : {1}, {1}, {2}] = +({3}[{4}*x + i - {5}, {4}*y + j - {5}, c] * {6}[i, j, c, "
        "o])",
        out, size, channels, x.name, stride, taps / 2, k);
    return biased({out, size, channels});
  }
  Image by_channel(const Image& x, int64_t stride) {
    const std::string k = input("K", {3, 3, x.channels}), out = fresh();
    line("{0}[x, y, c : {1}, {1}, {2}] = +({3}[{4}*x + i - 1, {4}*y + j - 1, c] * {5}[i, j, c])",
         out, x.size / stride, x.channels, x.name, stride, k);
    return biased({out, x.size / stride, x.channels});
  }
  Image halved(const Image& x) {
    const std::string out = fresh();
    line("{0}[x, y, c : {1}, {1}, {2}] = >({3}[2*x + i, 2*y + j, c]), i < 2, j < 2", out,
         x.size / 2, x.channels, x.name);
    return {out, x.size / 2, x.channels};
  }
  Image doubled(const Image& x) {
    const std::string k = input("K", {2, 2, x.channels, x.channels / 2}), out = fresh();
    line("{0}[2*x + i, 2*y + j, o : {1}, {1}, {2}] = +({3}[x, y, c] * {4}[i, j, c, o])", out,
         2 * x.size, x.channels / 2, x.name, k);
    return {out, 2 * x.size, x.channels / 2};
  }
  Image beside(const Image& a, const Image& b) {
    const std::string first = fresh(), out = fresh();
    const int64_t channels = a.channels + b.channels;
    line("{0}[x, y, c : {1}, {1}, {2}] = =({3}[x, y, c])", first, a.size, channels, a.name);
    line("{0}[x, y, c + {1} : {2}, {2}, {3}] = =({4}[x, y, c]) default {5}", out, a.channels,
         a.size, channels, b.name, first);
    return {out, a.size, channels};
  }

  // W x + b of features that stand in columns.
  std::string dense(const std::string& x, int64_t from, int64_t to, int64_t tokens) {
    const std::string w = input("W", {to, from}), b = input("B", {to, 1}), out = fresh();
    line("{0}[o, t : {1}, {2}] = +({3}[o, c] * {4}[c, t])", out, to, tokens, w, x);
    const std::string shifted = fresh();
    line("{} = {} + {}", shifted, out, b);
    return shifted;
  }
  // Over the features; scale and shift by feature.
  std::string normalised(const std::string& x, int64_t features, int64_t tokens) {
    const std::string sums = fresh(), centred = fresh(), squares = fresh(), variance = fresh(),
                      out = fresh();
    line("{}[t : {}] = +({}[c, t])", sums, tokens, x);
    line("{} = {} - {} / {}.0", centred, x, sums, features);
    line("{} = {} * {}", squares, centred, centred);
    line("{}[t : {}] = +({}[c, t])", variance, tokens, squares);
    line("{} = {} / sqrt({} / {}.0 + 0.00001) * {} + {}", out, centred, variance, features,
         input("G", {features, 1}), input("H", {features, 1}));
    return out;
  }

 private:
  Image biased(const Image& x) {
    return map(x, fmt::format("{} + {}", x.name, input("B", {x.channels})));
  }

  Network network_;
  std::string body_;
  int names_ = 0;
};

}  // namespace

Network mobilenet_v2() {
  struct Stage {
    int64_t expand, channels, blocks, stride;
  };
  static constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  Writer w;
  Image x{w.input("I", {224, 224, 3}), 224, 3};
  x = w.relu6(w.convolution(x, 3, 2, 32));
  for (const Stage& stage : kStages) {
    for (int64_t block = 0; block < stage.blocks; ++block) {
      const int64_t stride = block == 0 ? stage.stride : 1;
      Image y = x;
      if (stage.expand > 1) y = w.relu6(w.convolution(y, 1, 1, stage.expand * x.channels));
      y = w.relu6(w.by_channel(y, stride));
      y = w.convolution(y, 1, 1, stage.channels);
      x = stride == 1 && x.channels == y.channels ? w.sum(x, y) : y;
    }
  }
  x = w.relu6(w.convolution(x, 1, 1, 1280));
  const std::string means = w.fresh(), out = w.fresh();
  w.line("{}[c : {}] = +({}[x, y, c])", means, x.channels, x.name);
  w.line("{}[o : 1000] = +({}[c] * {}[c, o])", out, means, w.input("W", {x.channels, 1000}));
  return w.take(out);
}

Network bert_base() {
  constexpr int64_t kTokens = 128, kHidden = 768, kHeads = 12, kInner = 3072;
  constexpr int64_t kHead = kHidden / kHeads;
  Writer w;
  std::string x = w.normalised(w.input("I", {kHidden, kTokens}), kHidden, kTokens);
  for (int layer = 0; layer < 12; ++layer) {
    const std::string q = w.dense(x, kHidden, kHidden, kTokens);
    const std::string k = w.dense(x, kHidden, kHidden, kTokens);
    const std::string v = w.dense(x, kHidden, kHidden, kTokens);
    const std::string scores = w.fresh(), largest = w.fresh(), powers = w.fresh(), sums = w.fresh(),
                      parts = w.fresh(), mixed = w.fresh(), after = w.fresh(), end = w.fresh();
    // [what is looked at, head, who looks]
    w.line("{0}[t, h, s : {1}, {2}, {1}] = +({3}[{4}*h + d, s] * {5}[{4}*h + d, t]), d < {4}",
           scores, kTokens, kHeads, q, kHead, k);
    w.line("{}[h, s : {}, {}] = >({}[t, h, s])", largest, kHeads, kTokens, scores);
    w.line("{} = exp(({} - {}) * 0.125)", powers, scores, largest);
    w.line("{}[h, s : {}, {}] = +({}[t, h, s])", sums, kHeads, kTokens, powers);
    w.line("{} = {} / {}", parts, powers, sums);
    w.line("{0}[{1}*h + d, s : {2}, {3}] = +({4}[t, h, s] * {5}[{1}*h + d, t]), d < {1}", mixed,
           kHead, kHidden, kTokens, parts, v);
    w.line("{} = {} + {}", after, w.dense(mixed, kHidden, kHidden, kTokens), x);
    x = w.normalised(after, kHidden, kTokens);
    const std::string inner = w.dense(x, kHidden, kInner, kTokens), bent = w.fresh();
    w.line("{0} = 0.5 * {1} * (1.0 + tanh(0.797885 * ({1} + 0.044715 * {1} * {1} * {1})))", bent,
           inner);
    w.line("{} = {} + {}", end, w.dense(bent, kInner, kHidden, kTokens), x);
    x = w.normalised(end, kHidden, kTokens);
  }
  return w.take(x);
}

Network u_net() {
  Writer w;
  Image x{w.input("I", {256, 256, 3}), 256, 3};
  auto twice = [&](Image y, int64_t channels) {
    for (int n = 0; n < 2; ++n) y = w.relu(w.convolution(y, 3, 1, channels));
    return y;
  };
  std::vector<Image> left;
  for (int64_t channels = 64; channels < 1024; channels *= 2) {
    left.push_back(twice(x, channels));
    x = w.halved(left.back());
  }
  x = twice(x, 1024);
  while (!left.empty()) {
    const Image other = left.back();
    left.pop_back();
    x = twice(w.beside(other, w.doubled(x)), other.channels);
  }
  return w.take(w.convolution(x, 1, 1, 2).name);
}

}  // namespace stria::passes
