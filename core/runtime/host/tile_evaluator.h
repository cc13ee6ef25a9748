// SPDX-License-Identifier: Apache-2.0
// Tile on tensors of the host, by the interpreter: for what is computed when a program is made.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stria/base/result.h"
#include "stria/onnx/translate/translate.h"

namespace stria {

// Evaluates the calls that one program is made with: an onnx::Evaluator. Each function is read and
// lowered once for its types. Copies share what they know, and the limits. Not thread-safe.
class TileEvaluator {
 public:
  // Runs calls on a device, as one program; none: it leaves them to the interpreter.
  using OnDevice =
      std::function<Result<std::optional<onnx::KnownResults>>(const std::vector<onnx::KnownCall>&)>;

  // `on_device` may be empty. It is asked where calls have more than 10^8 points of loops.
  explicit TileEvaluator(OnDevice on_device = {});

  // out_of_range: a result is larger than 1 GiB, or all calls for the interpreter together have
  // more than 10^11 points (a detector of 4 * 10^9 took 15 s on a busy machine, 2026-11), or calls
  // for a device more than 10^14.
  Result<onnx::KnownResults> operator()(const std::vector<onnx::KnownCall>& calls) const;

  // Points of loops of all that the interpreter ran.
  double points() const;

 private:
  struct Lowered;
  struct State;
  Result<const Lowered*> lowered(const onnx::KnownCall& call,
                                 const std::vector<TensorType>& types) const;
  std::shared_ptr<State> state_;
};

}  // namespace stria
