// SPDX-License-Identifier: Apache-2.0
#include "program_case.h"

#include <algorithm>

#include "stria/base/status.h"

namespace stria::end_to_end {

using enum DataType;

const Types kReal = {fp32, fp64, fp16, bf16};
const Types kSigned = {fp32, i8, i16, i32, i64, fp16, bf16, fp64};
const Types kNumbers = {fp32, u8, i8, fp16, i32, u16, bf16, i64, u32, fp64, i16, u64};
const Types kInteger = {i32, i8, u8, i16, u16, u32, i64, u64};
const Types kFloat = {fp32, fp64};
const Types kFp32 = {fp32};

void Grid::beyond() { STRIA_CHECK(false, "a case reads or writes outside of its array"); }

DataType Case::wide() const {
  if (type == boolean) return i32;
  if (!is_integer(type) || bit_width(type) >= 32) return type;
  return is_unsigned_integer(type) ? u32 : i32;
}

Grid& Case::in(const std::string& name, Sizes sizes, int lower, int upper) {
  return in_of(name, type, std::move(sizes), lower, upper);
}

Grid& Case::in_of(const std::string& name, DataType of, Sizes sizes, int lower, int upper) {
  if (is_unsigned_integer(of) || of == boolean) {
    if (upper < 0) upper -= lower;  // as many numbers, from 0
    lower = std::max(lower, 0);
  }
  if (of == boolean) upper = 1;
  Grid& grid = out_of(name, of, std::move(sizes));
  for (double& value : grid.values) {
    state_ = state_ * 1664525u + 1013904223u;
    value = lower + static_cast<int>((state_ >> 16) % static_cast<uint32_t>(upper - lower + 1));
  }
  return inputs_[name] = outputs_.extract(name).mapped();
}

Grid& Case::given(const std::string& name, DataType of, Sizes sizes, std::vector<double> values) {
  return inputs_[name] = Grid{of, std::move(sizes), std::move(values)};
}

Grid& Case::out_of(const std::string& name, DataType of, Sizes sizes, double value) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return outputs_[name] =
             Grid{of, std::move(sizes), std::vector<double>(static_cast<size_t>(count), value)};
}

const std::vector<ProgramCase>& all_program_cases() {
  static const std::vector<ProgramCase> cases = [] {
    std::vector<ProgramCase> all;
    for (auto* list :
         {product_cases, convolution_cases, pooling_cases, reduction_cases, unwritten_cases,
          indexing_cases, network_cases, language_cases, arithmetic_cases}) {
      std::vector<ProgramCase> some = list();
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return cases;
}

}  // namespace stria::end_to_end
