// SPDX-License-Identifier: Apache-2.0
// choose_layouts on generated programs that transpose, cut, copy and join: values stay bit by bit,
// no kernel and no byte is added, and transposes around elementwise operations cancel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "stria/base/text.h"
#include "stria/pass/pipeline.h"
#include "stria/stripe/text/printer.h"
#include "tile_program.h"

namespace stria::passes {
namespace {

constexpr char kPipeline[] = R"([{"choose_layouts": {}}])";

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  void make() {
    for (int n = 0, count = 1 + below(2); n < count; ++n) {
      std::vector<int64_t> sizes;
      for (int d = 0, rank = 2 + below(2); d < rank; ++d) sizes.push_back(2 + below(3));
      add("I" + std::to_string(n), sizes);
      inputs[tensors_.back().name] = {DataType::fp32, sizes};
    }
    for (int n = 0, count = 3 + below(8); n < count; ++n) statement();
    std::vector<std::string> parameters, results;
    for (const auto& [name, type] : inputs) {
      std::vector<std::string> dims;
      for (size_t d = 0; d < type.sizes.size(); ++d) dims.push_back(fmt::format("{}D{}", name, d));
      parameters.push_back(fmt::format("{}[{}]", name, join(dims, ", ")));
    }
    // The last one and one more: tensors in between may be read, or not, besides.
    results.push_back(tensors_.back().name);
    if (const Tensor& other = any(); !inputs.count(other.name) && other.name != results[0])
      results.push_back(other.name);
    text = fmt::format("function f({}) -> ({}) {{\n{}}}\n", join(parameters, ", "),
                       join(results, ", "), body_);
  }

  std::string text;
  std::map<std::string, tile::TensorType> inputs;

 private:
  struct Tensor {
    std::string name;
    std::vector<int64_t> sizes;
  };
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  const Tensor& any() {
    return tensors_[static_cast<size_t>(below(static_cast<int>(tensors_.size())))];
  }
  // Rather a late one, so that chains come about.
  const Tensor& late() { return below(3) ? tensors_.back() : any(); }
  std::string add(std::string name, std::vector<int64_t> sizes) {
    tensors_.push_back({name, std::move(sizes)});
    return name;
  }
  std::string fresh() { return "T" + std::to_string(count_++); }
  static std::string numbers(const std::vector<int64_t>& sizes) {
    std::vector<std::string> out;
    for (const int64_t size : sizes) out.push_back(std::to_string(size));
    return join(out, ", ");
  }

  void statement() {
    const Tensor from = late();
    const int kind = below(10);
    if (kind < 5) return copy(from);
    if (kind == 9) return product(from);
    if (kind == 8) {
      const Tensor* other = nullptr;
      for (const Tensor& tensor : tensors_)
        if (tensor.sizes == from.sizes && tensor.name != from.name) other = &tensor;
      if (other) {
        const std::string second = other->name;
        body_ += fmt::format("  {} = {} + {};\n", add(fresh(), from.sizes), from.name, second);
        return;
      }
    }
    body_ += fmt::format("  {} = {} {};\n", add(fresh(), from.sizes), from.name,
                         below(2) ? "* 2" : "- 1");
  }

  // The dimensions in any order, perhaps of a part, as it is or as one that is no plain copy.
  void copy(const Tensor& from) {
    std::vector<size_t> order(from.sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<std::string> read, written;
    std::vector<int64_t> sizes = from.sizes, result;
    for (size_t d = 0; d < sizes.size(); ++d) {
      int64_t offset = 0;
      if (sizes[d] > 2 && below(6) == 0) {
        offset = below(2);
        --sizes[d];
      }
      read.push_back(offset ? fmt::format("i{} + {}", d, offset) : fmt::format("i{}", d));
    }
    for (const size_t d : order) {
      written.push_back(fmt::format("i{}", d));
      result.push_back(sizes[d]);
    }
    const char* aggregation = below(5) ? "=" : below(2) ? ">" : "+";
    body_ += fmt::format("  {}[{} : {}] = {}({}[{}]);\n", add(fresh(), result), join(written, ", "),
                         numbers(result), aggregation, from.name, join(read, ", "));
  }

  void product(const Tensor& from) {
    const Tensor other = any();
    if (from.sizes.size() != 2 || other.sizes.size() != 2) return copy(from);
    for (const bool turned : {false, true}) {
      const int64_t middle = other.sizes[turned ? 1 : 0];
      if (middle != from.sizes[1]) continue;
      const std::vector<int64_t> sizes = {from.sizes[0], other.sizes[turned ? 0 : 1]};
      body_ += fmt::format("  {}[i, j : {}] = +({}[i, k] * {}[{}]);\n", add(fresh(), sizes),
                           numbers(sizes), from.name, other.name, turned ? "j, k" : "k, j");
      return;
    }
    copy(from);
  }

  std::mt19937_64 random_;
  std::vector<Tensor> tensors_;
  std::string body_;
  int count_ = 0;
};

// Small integers: sums of them are exact, whatever their order.
std::map<std::string, std::vector<Scalar>> small_integers(
    const std::map<std::string, tile::TensorType>& inputs, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<std::string, std::vector<Scalar>> out;
  for (const auto& [name, type] : inputs) {
    int64_t count = 1;
    for (const int64_t size : type.sizes) count *= size;
    for (int64_t n = 0; n < count; ++n)
      out[name].push_back(Scalar::of_float(DataType::fp32, static_cast<double>(random() % 5) - 2));
  }
  return out;
}

uint64_t from_environment(const char* name, uint64_t usual) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

TEST(Layouts, KeepTheValuesOfGeneratedPrograms) {
  const uint64_t first = from_environment("STRIA_LAYOUTS_SEED", 1);
  const uint64_t programs = from_environment("STRIA_LAYOUTS_PROGRAMS", 400);
  std::map<std::string, int64_t> counters;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    Generator generated(seed);
    generated.make();
    auto program =
        make_program(generated.text, generated.inputs, small_integers(generated.inputs, seed));
    ASSERT_TRUE(program.ok()) << generated.text << program.status().to_string();
    ASSERT_EQ(wrong_step(kPipeline, {}, small_model(32, 16), *program, &counters), "")
        << "seed " << seed << "\n"
        << generated.text;
  }
  std::printf("%llu programs: %lld copies removed, %lld layouts changed\n",
              static_cast<unsigned long long>(programs),
              static_cast<long long>(counters["choose_layouts: copies_removed"]),
              static_cast<long long>(counters["choose_layouts: layouts_changed"]));
  EXPECT_GT(counters["choose_layouts: copies_removed"], static_cast<int64_t>(programs));
  EXPECT_GT(counters["choose_layouts: layouts_changed"], static_cast<int64_t>(programs) / 10);
}

// Layers in rows of pixels, written by someone who thinks in columns: every transpose goes.
TEST(Layouts, TransposesAroundLayersCancel) {
  std::string body = "  X0 = I;\n";
  for (int layer = 0; layer < 5; ++layer)
    body += fmt::format(
        "  A{0}[c, y, x : 3, 4, 5] = =(X{0}[y, x, c]);\n  B{0} = A{0} * 2 + 1;\n"
        "  X{1}[y, x, c : 4, 5, 3] = =(B{0}[c, y, x]);\n",
        layer, layer + 1);
  const std::string text = "function f(I[H, W, C]) -> (X5) {\n" + body + "}\n";
  auto program = make_program(text, {{"I", {DataType::fp32, {4, 5, 3}}}});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  std::map<std::string, int64_t> counters;
  ASSERT_EQ(wrong_step(kPipeline, {}, small_model(32, 16), *program, &counters), "");
  // Ten transposes, and the copy at the beginning.
  EXPECT_EQ(counters["choose_layouts: copies_removed"], 11);
}

}  // namespace
}  // namespace stria::passes
