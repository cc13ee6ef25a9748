// SPDX-License-Identifier: Apache-2.0
// The functions of Tile that are not elementwise: one record per file, as for the builtins. What
// they mean is a rule of docs/semantics.md; core/lower writes that rule as Stripe, so no device
// knows their names. All functions are pure and may be called from every thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/builtins/builtin.h"
#include "stria/type/tensor_shape.h"

namespace stria {

// The arguments of a call, whose numbers agree with the record.
struct SpecialCall {
  std::vector<TensorType> tensors;
  std::vector<int64_t> numbers;
};

// A result's type and sizes, or what is wrong with which argument.
struct SpecialResult {
  TensorType type;
  std::string error;  // "" if the call is right
  int argument = -1;  // that the error is about, from 0; -1: the call as a whole
};
template <typename... Args>
SpecialResult wrong(int argument, fmt::format_string<Args...> text, Args&&... args) {
  return {{}, fmt::format(text, std::forward<Args>(args)...), argument};
}

// Of the functions that take rows; `name` is for the messages.
SpecialResult gather_result(const char* name, const SpecialCall& call);

// Of the sum of elements of a type (T8).
DataType sum_type(DataType type);

struct Special {
  const char* name;
  const char* call;   // with its arguments: "gather(D, I)"
  int tensors;        // leading arguments that are tensors
  int least_numbers;  // then integers known when the program is bound
  int most_numbers;   // -1: any count
  SpecialResult (*result)(const SpecialCall& call) = nullptr;
  // Instead of `result`, of a function of numbers alone: the number that it is, which may be a
  // size.
  Result<int64_t> (*number)(std::span<const int64_t> numbers) = nullptr;
  Derivative gradient;
  const char* rule;     // of docs/semantics.md
  const char* doc;      // one or two sentences
  const char* example;  // Tile
};

// Every record, in the order of all_specials.def.
std::span<const Special* const> all_specials();
// Null if there is no such function.
const Special* find_special(std::string_view name);

// Streams of the random numbers, and words of one stream's state: the state is u32[3, 2048].
inline constexpr int64_t kPrngStreams = 2048;
inline constexpr int64_t kPrngWords = 3;

}  // namespace stria
