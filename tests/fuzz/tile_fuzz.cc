// SPDX-License-Identifier: Apache-2.0
// Tile text: what parses prints and parses again to the same; what binds lowers to Stripe that the
// verifier accepts. Names choose sizes and types, so that an input is nothing but a Tile file.
#include <algorithm>
#include <map>
#include <vector>

#include "fuzzer.h"
#include "stria/lower/lower.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace stria::tile {
namespace {

// Lowering is tried for programs of at most so many statements, and elements in all tensors.
constexpr size_t kMaxStatements = 32;
constexpr int64_t kMaxElements = 1 << 14;

// Programs whose calls multiply to more statements than this are not bound: that ends at a limit
// (tests/unit/tile), but takes its time.
constexpr double kMaxInlined = 500;

enum class Sizes { small, large };

// Statements of function `f` once its calls are inlined; calls in a circle, which bind refuses,
// count as none. `known`: results by function, negative while one is being made, 0 before.
double inlined_statements(const Program& program, size_t f, std::vector<double>& known) {
  if (known[f] != 0) return std::max(known[f], 0.0);
  known[f] = -1;
  double count = 1 + static_cast<double>(program.functions[f].statements.size());
  for (const Expr& expr : program.functions[f].exprs) {
    if (expr.kind != ExprKind::call) continue;
    for (size_t callee = 0; callee < program.functions.size(); ++callee)
      if (program.functions[callee].name.text == expr.text)
        count += inlined_statements(program, callee, known);
  }
  return known[f] = count;
}

int64_t size_of(const std::string& dim, Sizes sizes) {
  static constexpr int64_t kLarge[] = {INT64_MAX, INT64_MAX / 2, int64_t{1} << 32, 1 << 20, 65537};
  const uint64_t hash = fuzz::hash_of(dim);
  return sizes == Sizes::small ? static_cast<int64_t>(hash % 6) : kLarge[hash % std::size(kLarge)];
}

std::map<std::string, TensorType> inputs_of(const Function& function, Sizes sizes, bool all_fp32) {
  std::map<std::string, TensorType> inputs;
  for (const Parameter& parameter : function.parameters) {
    const uint64_t hash = fuzz::hash_of(parameter.name.text);
    TensorType type;
    if (!all_fp32) type.type = static_cast<DataType>(hash % kDataTypeCount);
    for (const Name& dim : parameter.dims) type.sizes.push_back(size_of(dim.text, sizes));
    if (!parameter.has_dims) type.sizes.assign(hash / 16 % 4, size_of(parameter.name.text, sizes));
    inputs[parameter.name.text] = type;
  }
  return inputs;
}

void check_lowering(const BoundProgram& bound) {
  double elements = 0;
  for (const BoundTensor& tensor : bound.tensors) {
    double count = 1;
    for (int64_t size : tensor.sizes) count *= static_cast<double>(size);
    elements += count;
  }
  if (elements > kMaxElements || bound.statements.size() > kMaxStatements) return;
  Result<stripe::Program> lowered = lower(bound);
  if (!lowered.ok()) {
    const StatusCode code = lowered.status().code();
    STRIA_CHECK(code == StatusCode::unknown || code == StatusCode::out_of_range, "lower: {}",
                lowered.status().to_string());
    return;
  }
  const Status verified = stripe::verify(*lowered);
  STRIA_CHECK(verified.ok(), "lowered program: {}", verified.message());
}

void check_round_trip(const Program& program) {
  const std::string once = print(program);
  Result<Program> again = parse({"printed.tile", once});
  STRIA_CHECK(again.ok(), "what was printed does not parse:\n{}\n{}", once,
              again.status().message());
  STRIA_CHECK(*again == program, "what was printed parses to another program:\n{}", once);
  STRIA_CHECK(print(*again) == once, "printing twice gives other text:\n{}", once);
}

}  // namespace
}  // namespace stria::tile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stria;
  using namespace stria::tile;
  Result<Program> program = parse({"fuzz.tile", fuzz::text_of(data, size)});
  if (!program.ok()) {
    STRIA_CHECK(!program.status().message().empty(), "a failure without a message");
    return 0;
  }
  check_round_trip(*program);
  Result<const Function*> entry = entry_function(*program, "");
  if (!entry.ok()) return 0;
  std::vector<double> known(program->functions.size());
  const size_t first = static_cast<size_t>(*entry - program->functions.data());
  if (inlined_statements(*program, first, known) > kMaxInlined) return 0;
  struct Case {
    Sizes sizes;
    bool all_fp32;
  };
  for (Case c : {Case{Sizes::small, true}, Case{Sizes::small, false}, Case{Sizes::large, false}}) {
    Result<BoundProgram> bound =
        bind_program(*program, "", inputs_of(**entry, c.sizes, c.all_fp32));
    if (bound.ok()) {
      check_lowering(*bound);
    } else {
      STRIA_CHECK(bound.status().code() != StatusCode::internal, "{}", bound.status().message());
    }
  }
  return 0;
}
