// SPDX-License-Identifier: Apache-2.0
// Tile on tensors of the host, by the interpreter: for what is computed when a program is made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria {

// Evaluates the functions that one program is made with; for its types each is read and lowered
// once. Copies share what they know, and the limits. Not thread-safe.
class TileEvaluator {
 public:
  TileEvaluator();

  // The results of `function` of the Tile `text` for `inputs`, which are its parameters `names`.
  // out_of_range: its results are larger than 1 GiB, or all functions together have more than
  // 10^11 points: a detector of 4 * 10^9 took 15 s on a busy machine (2026-11).
  Result<std::vector<HostTensor>> operator()(
      const std::string& text, const std::string& function, const std::vector<std::string>& names,
      const std::vector<std::shared_ptr<const HostTensor>>& inputs) const;

  // Points of loops of all that ran.
  double points() const;

 private:
  struct Lowered;
  struct State;
  std::shared_ptr<State> state_;
};

// The same for one function.
Result<std::vector<HostTensor>> evaluate_tile(
    const std::string& text, const std::string& function, const std::vector<std::string>& names,
    const std::vector<std::shared_ptr<const HostTensor>>& inputs);

}  // namespace stria
