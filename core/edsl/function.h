// SPDX-License-Identifier: Apache-2.0
// From tensors to a function of Tile, and to a program that devices compile.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stria/base/api.h"
#include "stria/base/result.h"
#include "stria/edsl/tensor.h"
#include "stria/runtime/program.h"

namespace stria::edsl {

// One input of a function: a tensor that input() made, or a Dim, which is a number then.
class STRIA_API Input {
 public:
  Input(const Tensor& tensor);  // NOLINT: meant to convert
  Input(const Dim& dim);        // NOLINT: meant to convert

 private:
  friend struct Inside;
  NodePtr node_;
};

struct FunctionState;

// A function that others may call: `Tensor Y = twice(X)`, and for several results
// `auto [S, T] = both.results<2>(X)`. A handle on data that do not change; safe from any thread.
class STRIA_API Function {
 public:
  // Why it cannot be called, or ok: all mistakes, one a line.
  Status status() const;

  // A call. Arguments are tensors, numbers or dimensions, as many as the function has inputs. A
  // call that does not fit, by arguments or by results, gives tensors that fail.
  template <std::convertible_to<Tensor>... Arguments>
  Tensor operator()(const Arguments&... arguments) const {
    return call({Tensor(arguments)...}, 1)[0];
  }
  template <size_t Count, std::convertible_to<Tensor>... Arguments>
  std::array<Tensor, Count> results(const Arguments&... arguments) const {
    std::vector<Tensor> all = call({Tensor(arguments)...}, Count);
    std::array<Tensor, Count> out;
    for (size_t i = 0; i < Count; ++i) out[i] = std::move(all[i]);
    return out;
  }
  // For a number of arguments that is not known in C++; gives exactly `results` tensors.
  std::vector<Tensor> call(const std::vector<Tensor>& arguments, size_t results) const;

 private:
  friend struct Inside;
  explicit Function(std::shared_ptr<const FunctionState> state);
  std::shared_ptr<const FunctionState> state_;
};

// The function that computes `results` from `inputs`, with the statements that this needs, in the
// order in which they were written. `name` is a letter, then letters, digits and '_'. Mistakes are
// kept in the function: its status(), and that of every program that calls it.
STRIA_API Function function(std::string name, const std::vector<Input>& inputs,
                            const std::vector<Tensor>& results);

// The same as a program that a device compiles, with the functions it calls; text() of it is Tile.
// invalid_argument with all mistakes in what the results are made from, one a line, each naming the
// tensor and what to do. Mistakes of sizes and types show when the program is compiled, as lines of
// that text. An empty name: the function of the program has none.
STRIA_API Result<Program> program(std::string name, const std::vector<Input>& inputs,
                                  const std::vector<Tensor>& results);
STRIA_API Result<Program> program(const Function& function);

}  // namespace stria::edsl
