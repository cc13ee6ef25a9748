// SPDX-License-Identifier: Apache-2.0
// A Tile program of programs/ with its inputs and what it must compute, written down as plain loops
// without any of the code under test. Values are small integers unless a case says otherwise, so
// that results are exact in every type and must be equal.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "stria/type/data_type.h"

namespace stria::end_to_end {

using Sizes = std::vector<int64_t>;

// A dense array of numbers; i64 and u64 beyond 2^53 do not fit.
struct Grid {
  DataType type = DataType::fp32;
  Sizes sizes;
  std::vector<double> values;

  template <typename... Index>
  bool has(Index... index) const {
    const std::array<int64_t, sizeof...(Index)> at{static_cast<int64_t>(index)...};
    for (size_t d = 0; d < at.size(); ++d)
      if (at[d] < 0 || at[d] >= sizes.at(d)) return false;
    return at.size() == sizes.size();
  }
  // Ends the test at an index out of range.
  template <typename... Index>
  double& operator()(Index... index) {
    if (!has(index...)) beyond();
    size_t flat = 0, d = 0;
    ((flat = flat * static_cast<size_t>(sizes[d++]) + static_cast<size_t>(index)), ...);
    return values[flat];
  }
  // 0 outside.
  template <typename... Index>
  double get(Index... index) {
    return has(index...) ? (*this)(index...) : 0;
  }
  [[noreturn]] static void beyond();
};

// f(i, j, …) for every point of the box, in row-major order: each({M, N}, [&](int i, int j) {…}).
template <size_t Rank, typename Function>
void each(const int (&sizes)[Rank], Function&& f) {
  for (int size : sizes)
    if (size <= 0) return;
  std::array<int, Rank> at{};
  for (;;) {
    std::apply(f, at);
    size_t d = Rank;
    while (d > 0 && ++at[d - 1] == sizes[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

// One run of a program: the case fills in inputs and expected outputs.
class Case {
 public:
  Case(DataType type, uint32_t seed) : type(type), state_(seed * 2654435761u + 1) {}
  const DataType type;  // under test
  // Largest relative error in units of 2^-fraction bits of the result's type; 0: equal.
  double ulps = 0;
  // The width of sums and products of `type` (rule T8).
  DataType wide() const;

  // An input of the type under test (or another) with integers in lower..upper (0..upper if
  // unsigned).
  Grid& in(const std::string& name, Sizes sizes, int lower = -4, int upper = 4);
  Grid& in_of(const std::string& name, DataType type, Sizes sizes, int lower = -4, int upper = 4);
  // With these values.
  Grid& given(const std::string& name, DataType type, Sizes sizes, std::vector<double> values);
  // An expected output, filled with `value`.
  Grid& out(const std::string& name, Sizes sizes, double value = 0) {
    return out_of(name, type, std::move(sizes), value);
  }
  Grid& out_of(const std::string& name, DataType type, Sizes sizes, double value = 0);

  const std::map<std::string, Grid>& inputs() const { return inputs_; }
  const std::map<std::string, Grid>& outputs() const { return outputs_; }

 private:
  uint32_t state_;
  std::map<std::string, Grid> inputs_, outputs_;
};

using Types = std::vector<DataType>;
// What a program can be tried with. Each list begins with the type that is always tried.
extern const Types kReal;     // fp32, fp64, fp16, bf16
extern const Types kSigned;   // and the signed integers
extern const Types kNumbers;  // and the unsigned ones
extern const Types kInteger;  // i32 and all other integers
extern const Types kFloat;    // fp32 and fp64
extern const Types kFp32;     // fp32 alone: the program fixes its types

struct ProgramCase {
  const char* program;  // programs/<program>.tile
  const Types* types;
  void (*fill)(Case&);
};

// One list per file.
std::vector<ProgramCase> product_cases();
std::vector<ProgramCase> convolution_cases();
std::vector<ProgramCase> pooling_cases();
std::vector<ProgramCase> reduction_cases();
std::vector<ProgramCase> unwritten_cases();
std::vector<ProgramCase> indexing_cases();
std::vector<ProgramCase> network_cases();
std::vector<ProgramCase> language_cases();
std::vector<ProgramCase> arithmetic_cases();
// All of them.
const std::vector<ProgramCase>& all_program_cases();

}  // namespace stria::end_to_end
