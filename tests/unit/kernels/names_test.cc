// SPDX-License-Identifier: Apache-2.0
// Whatever a program calls its tensors, indices, values and kernels, it compiles and computes the
// same.
#include <gtest/gtest.h>

#include <algorithm>

#include "hostile_names.h"
#include "kernel_runner.h"

namespace stria::kernels {
namespace {

constexpr size_t kMostIndices = 8;

// Adds up one element of each tensor; tensor, value and, for the first ones, index are called the
// same. Every point has an element of the result; the kernel has the first name.
std::string sum_kernel(const std::vector<std::string>& names, const std::string& result) {
  std::string indices, views, statements, at;
  int number = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const bool indexed = i < kMostIndices;
    if (indexed) indices += fmt::format("{}{}:2", i ? ", " : "", name);
    if (indexed) at += fmt::format("{}{}*{}", i ? " + " : "", 1 << i, name);
    views += "in " + element_view({name, DataType::i32, {2}}, indexed ? name : "1") + "\n";
    statements += fmt::format("{}: ${} = load({})\n", number++, name, name);
  }
  std::string sum = "$" + names[0];
  for (size_t i = 1; i < names.size(); ++i) {
    statements += fmt::format("{}: $sum_of_{} = add.i32({}, ${})\n", number++, i, sum, names[i]);
    sum = fmt::format("$sum_of_{}", i);
  }
  statements += fmt::format("{}: {} = store({})\n", number, result, sum);
  return fmt::format("#kernel #parallel block [{}] ( // {}\n{}out {}[{}] i32(1:1)\n) {{\n{}}}",
                     indices, names[0], views, result, at, statements);
}

TEST(Names, MeanNothingToTheLanguage) {
  constexpr size_t kOfKernel = 32, kOfProgram = 16 * kOfKernel;
  std::vector<std::string> all = hostile_names();
  size_t programs = 0;
  for (size_t begin = 0; begin < all.size(); begin += kOfProgram, ++programs) {
    const size_t end = std::min(begin + kOfProgram, all.size());
    std::vector<TestTensor> tensors;
    std::vector<std::string> kernels;
    for (size_t first = begin; first < end; first += kOfKernel) {
      const std::vector<std::string> names(
          all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(std::min(first + kOfKernel, end)));
      for (const std::string& name : names) tensors.push_back({name, DataType::i32, {2}});
      const std::string result = fmt::format("Result_of_{}", first);
      tensors.push_back(
          {result, DataType::i32, {1 << std::min(names.size(), kMostIndices)}, "out"});
      kernels.push_back(sum_kernel(names, result));
    }
    EXPECT_EQ(difference(program_text(tensors, kernels)), "")
        << "names from " << all[begin] << " on";
  }
  EXPECT_GE(programs, 3u);
}

}  // namespace
}  // namespace stria::kernels
