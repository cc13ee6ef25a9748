// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/explore.h"

#include <algorithm>

#include "stria/interp/plan.h"
#include "stria/interp/program_values.h"

namespace stria::interp {
namespace {

class Explorer {
 public:
  Explorer(const stripe::Program& program, std::vector<GivenTensor> inputs,
           std::vector<ProgramTensor> outputs)
      : program_(program), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  // What goes wrong; ok if outputs are those of the first run.
  Status run(const Interleaving& how) {
    std::vector<GivenTensor> tensors = inputs_;
    for (const ProgramTensor& output : outputs_)
      if (output.dir == stripe::RefDir::out) tensors.push_back(empty_tensor(output));
    std::vector<TensorArg> args;
    for (GivenTensor& tensor : tensors) args.push_back(tensor.arg());
    Events events;
    InterpOptions options;
    options.interleaving = &how;
    options.events = &events;
    STRIA_RETURN_IF_ERROR(interpret(program_, args, options));
    steps_ = std::max(steps_, events.concurrent_steps);
    if (first_.empty()) {
      first_ = std::move(tensors);
      return {};
    }
    // The order of sums is free, and with it how they are rounded.
    free_rounding_ |= events.unordered_sums > 0;
    for (size_t t = 0; t < tensors.size(); ++t)
      if (tensors[t].bytes != first_[t].bytes &&
          !(free_rounding_ && is_float(tensors[t].shape.type)))
        return invalid_argument("{} is not what the first run gave", tensors[t].name);
    return {};
  }
  int64_t steps() const { return steps_; }

 private:
  const stripe::Program& program_;
  const std::vector<GivenTensor> inputs_;
  const std::vector<ProgramTensor> outputs_;
  std::vector<GivenTensor> first_;
  int64_t steps_ = 0;
  bool free_rounding_ = false;
};

// Fewer switches, and the plain priorities where they will do.
void shorten(Explorer& explorer, Exploration& found) {
  const auto take = [&](const Interleaving& shorter) {
    const Status failure = explorer.run(shorter);
    ++found.runs;
    if (failure.ok() || failure.code() != found.failure.code()) return false;
    found.failing = shorter;
    found.failure = failure;
    return true;
  };
  for (size_t i = 0; i < found.failing->switches.size();) {
    Interleaving shorter = *found.failing;
    shorter.switches.erase(shorter.switches.begin() + static_cast<std::ptrdiff_t>(i));
    if (!take(shorter)) ++i;
  }
  if (found.failing->seed == 0) return;
  Interleaving plain = *found.failing;
  plain.seed = 0;
  take(plain);
}

}  // namespace

Result<Exploration> explore(const stripe::Program& program, int64_t count, uint64_t seed) {
  Exploration out;
  STRIA_ASSIGN(const Plan plan, make_plan(program.entry));
  out.concurrent = plan.root->concurrent;
  STRIA_ASSIGN(std::vector<GivenTensor> inputs, random_inputs(program, seed));
  STRIA_ASSIGN(std::vector<ProgramTensor> outputs, program_outputs(program));
  Explorer explorer(program, std::move(inputs), std::move(outputs));
  const int64_t runs = out.concurrent ? count : 1;
  // What a race leads to may show before the race does.
  constexpr int64_t kMoreForARace = 8;
  int64_t end = runs;
  for (int64_t number = 0; number < end; ++number) {
    const Interleaving how = interleaving_of(static_cast<uint64_t>(number), explorer.steps());
    ++out.runs;
    const Status failure = explorer.run(how);
    const bool wrong_moment = failure.code() == StatusCode::failed_precondition;
    if (failure.ok() || (out.failing && wrong_moment)) continue;
    out.failing = how;
    out.failure = failure;
    if (!wrong_moment) break;
    end = std::min(runs, number + 1 + kMoreForARace);
  }
  if (out.failing) shorten(explorer, out);
  return out;
}

}  // namespace stria::interp
