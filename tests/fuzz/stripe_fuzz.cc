// SPDX-License-Identifier: Apache-2.0
// Stripe text: what parses prints canonically, the verifier answers, and what it accepts the
// interpreter runs if that is little work.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fuzzer.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::stripe {
namespace {

constexpr double kMaxPoints = 2e4;    // statements executed, at most
constexpr double kMaxElements = 1e4;  // of one tensor

void check_round_trip(const Program& program) {
  const std::string once = print(program);
  Result<Program> again = parse({"printed.stripe", once});
  STRIA_CHECK(again.ok(), "what was printed does not parse:\n{}\n{}", once,
              again.status().message());
  STRIA_CHECK(*again == program, "what was printed parses to another program:\n{}", once);
  STRIA_CHECK(print(*again) == once, "printing twice gives other text:\n{}", once);
}

bool is_small(const TensorShape& shape) {
  double span = 1;
  for (const Dim& dim : shape.dims) {
    if (dim.size <= 0) return dim.size == 0;
    span += (static_cast<double>(dim.size) - 1) * std::fabs(static_cast<double>(dim.stride));
  }
  return span <= kMaxElements;
}

// Statements that the block executes, constraints left aside; over kMaxPoints if it holds a tensor
// that is not small.
double work_of(const Block& block) {
  double inner = 1;
  for (const Refinement& ref : block.refs)
    if (ref.dir == RefDir::none && !is_small(ref.shape)) return 2 * kMaxPoints;
  for (const Statement& statement : block.stmts)
    inner += statement.block() != nullptr ? work_of(*statement.block()) : 1;
  double points = 1;
  for (const Index& index : block.idxs)
    points *= static_cast<double>(std::max<int64_t>(index.range, 1));
  return points * inner;
}

void interpret(const Program& program) {
  Result<std::vector<interp::ProgramTensor>> inputs = interp::program_inputs(program);
  Result<std::vector<interp::ProgramTensor>> outputs = interp::program_outputs(program);
  if (!inputs.ok() || !outputs.ok()) return;
  std::vector<interp::ProgramTensor> tensors = *inputs;
  tensors.insert(tensors.end(), outputs->begin(), outputs->end());
  std::vector<std::vector<std::byte>> memory;
  std::vector<interp::TensorArg> arguments;
  for (const interp::ProgramTensor& tensor : tensors) {
    const TensorShape dense = dense_shape(tensor.shape.type, tensor.shape.sizes());
    if (!is_small(dense)) return;
    memory.emplace_back(static_cast<size_t>(dense.span_bytes()), std::byte{1});
    arguments.push_back({tensor.name, memory.back().data(), dense});
  }
  const Status status = interp::interpret(program, arguments);
  STRIA_CHECK(status.code() != StatusCode::internal, "{}", status.message());
}

}  // namespace
}  // namespace stria::stripe

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stria;
  using namespace stria::stripe;
  Result<Program> program = parse({"fuzz.stripe", fuzz::text_of(data, size)});
  if (!program.ok()) {
    STRIA_CHECK(!program.status().message().empty(), "a failure without a message");
    return 0;
  }
  check_round_trip(*program);
  if (verify(*program).ok() && work_of(program->entry) <= kMaxPoints) interpret(*program);
  return 0;
}
