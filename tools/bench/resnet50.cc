// SPDX-License-Identifier: Apache-2.0
#include "resnet50.h"

#include <vector>

#include "stria/base/text.h"

namespace stria::bench {
namespace {

// Writes the network statement by statement. A tensor is [batch, size, size, channels].
class Writer {
 public:
  explicit Writer(const ResNet50Options& options) : options_(options) {}

  ResNet50 network() {
    Tensor data = input("I", 224, 3);
    Tensor x = relu(convolution(data, 7, 2, 64));
    x = largest_of_windows(x);
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage)
      for (int b = 0; b < blocks[stage] * options_.repeat; ++b)
        x = bottleneck(x, int64_t{64} << stage, b == 0 && stage > 0 ? 2 : 1);
    dense(x);
    std::vector<std::string> head;
    for (const auto& [name, dims] : header_) head.push_back(fmt::format("{}[{}]", name, dims));
    out_.text = fmt::format("function ({}) -> (R) {{\n{}}}\n", join(head, ", "), body_);
    return std::move(out_);
  }

 private:
  struct Tensor {
    std::string name;
    int64_t size = 0, channels = 0;
  };

  void parameter(const std::string& name, std::vector<int64_t> sizes) {
    std::vector<std::string> dims;
    for (size_t d = 0; d < sizes.size(); ++d) dims.push_back(fmt::format("{}D{}", name, d));
    header_.emplace_back(name, join(dims, ", "));
    out_.inputs[name] = {DataType::fp32, std::move(sizes)};
  }

  Tensor input(const std::string& name, int64_t size, int64_t channels) {
    parameter(name, {options_.batch, size, size, channels});
    return {name, size, channels};
  }

  Tensor convolution(const Tensor& x, int64_t kernel, int64_t stride, int64_t channels) {
    const int number = ++out_.convolutions;
    const int64_t size = x.size / stride;
    const std::string k = fmt::format("K{}", number), c = fmt::format("C{}", number);
    parameter(k, {kernel, kernel, x.channels, channels});
    auto at = [&](const char* place, const char* tap) {
      std::string form = stride == 1 ? place : fmt::format("{}*{}", stride, place);
      if (kernel > 1) form += fmt::format(" + {} - {}", tap, kernel / 2);
      return form;
    };
    const std::string kernel_at = kernel > 1 ? "i, j" : "0, 0";
    body_ += fmt::format(
        "  {}[n, x, y, o : {}, {}, {}, {}] = +({}[n, {}, {}, c] * {}[{}, c, o]);\n", c,
        options_.batch, size, size, channels, x.name, at("x", "i"), at("y", "j"), k, kernel_at);
    const std::string b = fmt::format("B{}", number), n = fmt::format("N{}", number);
    parameter(b, {channels});
    if (options_.folded) {
      body_ += fmt::format("  {} = {} + {};\n", n, c, b);
    } else {
      for (const char* what : {"Mean", "Variance", "Scale"})
        parameter(fmt::format("{}{}", what, number), {channels});
      body_ +=
          fmt::format("  {0} = ({1} - Mean{2}) / sqrt(Variance{2} + 0.00001) * Scale{2} + {3};\n",
                      n, c, number, b);
    }
    return {n, size, channels};
  }

  Tensor named(const std::string& what, const std::string& value, const Tensor& like) {
    const std::string name = fmt::format("{}{}", what, ++names_);
    body_ += fmt::format("  {} = {};\n", name, value);
    return {name, like.size, like.channels};
  }

  Tensor relu(const Tensor& x) { return named("A", fmt::format("max({}, 0.0)", x.name), x); }

  Tensor largest_of_windows(const Tensor& x) {
    body_ += fmt::format(
        "  P[n, x, y, c : {}, {}, {}, {}] = >({}[n, 2*x + i - 1, 2*y + j - 1, c]), i < 3, j < 3;\n",
        options_.batch, x.size / 2, x.size / 2, x.channels, x.name);
    return {"P", x.size / 2, x.channels};
  }

  Tensor bottleneck(const Tensor& x, int64_t width, int64_t stride) {
    Tensor y = relu(convolution(x, 1, 1, width));
    y = relu(convolution(y, 3, stride, width));
    y = convolution(y, 1, 1, 4 * width);
    const Tensor before = y.channels == x.channels ? x : convolution(x, 1, stride, 4 * width);
    return relu(named("S", y.name + " + " + before.name, y));
  }

  void dense(const Tensor& x) {
    parameter("W", {x.channels, 1000});
    parameter("B", {1000});
    body_ += fmt::format(
        "  T[n, c : {0}, {1}] = +({2}[n, x, y, c]);\n  M = T / {3};\n"
        "  D[n, o : {0}, 1000] = +(M[n, c] * W[c, o]);\n  R = D + B;\n",
        options_.batch, x.channels, x.name, x.size * x.size);
  }

  const ResNet50Options& options_;
  ResNet50 out_;
  std::vector<std::pair<std::string, std::string>> header_;
  std::string body_;
  int names_ = 0;
};

}  // namespace

ResNet50 resnet50(const ResNet50Options& options) { return Writer(options).network(); }

}  // namespace stria::bench
