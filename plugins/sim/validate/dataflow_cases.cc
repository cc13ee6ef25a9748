// SPDX-License-Identifier: Apache-2.0
#include "validate/dataflow_cases.h"

#include "program/part_simulation.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/stripe/text/parser.h"

namespace stria::sim {
namespace {

constexpr const char* kPublished = "SCALE-Sim, writes of results";
constexpr const char* kClosedForm = "closed form";

// 256 x 256 by 256 x 128, each tensor in a memory of its own.
constexpr const char* kArrayProduct = R"(stripe 1.0
0: #program block [] ( // product
    none new@0x0<A[0]> A[0, 0] i8(256:256, 256:1)
    none new@0x0<B[0]> B[0, 0] i8(256:128, 128:1)
    none new@0x0<C[0]> C[0, 0] i32(256:128, 128:1)
) {
  0: #main block [] ( // main
      in<A[0]> A[0, 0] i8(256:256, 256:1)
      in<B[0]> B[0, 0] i8(256:128, 128:1)
      out<C[0]> C[0, 0] i32(256:128, 128:1)
  ) {
    0: block<ARRAY> [i:256, j:128, k:256] (
        in<A[0]> A[i, k] i8(1:256, 1:1)
        in<B[0]> B[k, j] i8(1:128, 1:1)
        out<C[0]> C[i, j]:add.i32 i32(1:128, 1:1)
    ) {
      0: $a = load(A)
      1: $b = load(B)
      2: $c = mul.i32($a, $b)
      3: C = store($c)
    }
  }
}
)";

Result<PartSimulation> simulated(const std::string& array) {
  STRIA_ASSIGN(const HardwareModel model, load_hardware_model({"array.json", fmt::format(R"({{
    "clock_mhz": 1000, "mem_units": {{"A": {{}}, "B": {{}}, "C": {{}}}},
    "exec_units": {{"ARRAY": {{"systolic": {{"rows": 32, "columns": 32, {}}}}}}}}})",
                                                                                         array)}));
  STRIA_ASSIGN(const stripe::Program program, stripe::parse({"product", kArrayProduct}));
  return simulate_part(program, *program.main(), model);
}

}  // namespace

Result<std::vector<ValidationCase>> dataflow_cases() {
  std::vector<ValidationCase> out;
  const auto add = [&](const std::string& name, const char* source, double expected, double ours) {
    out.push_back({"256x256 by 256x128 on 32x32, " + name, source, expected, ours});
  };
  // Of the one operation.
  const auto elements = [](const PartSimulation& run, const char* memory, bool writes) {
    const KindCounts::Memory& count = run.lowered.counts.at(0).memories.at(memory);
    const double bytes = memory[0] == 'C' ? 4 : 1;
    return (writes ? count.written_bytes : count.read_bytes) / bytes;
  };
  constexpr double kM = 256, kN = 128, kK = 256, kFolds = 8, kAcross = 4;
  STRIA_ASSIGN(const PartSimulation weights, simulated("\"dataflow\": \"ws\""));
  add("ws, results written", kPublished, 262'144, elements(weights, "C[0]", true));
  add("ws, sums read back", kClosedForm, kM * kN * (kFolds - 1), elements(weights, "C[0]", false));
  add("ws, inputs read", kClosedForm, kM * kK * kAcross, elements(weights, "A[0]", false));
  add("ws, weights read", kClosedForm, kN * kK, elements(weights, "B[0]", false));
  STRIA_ASSIGN(const PartSimulation kept, simulated("\"dataflow\": \"ws\", \"accumulators\": 256"));
  add("ws, results written from accumulators", kClosedForm, kM * kN, elements(kept, "C[0]", true));
  STRIA_ASSIGN(const PartSimulation results, simulated("\"dataflow\": \"os\""));
  add("os, results written", kClosedForm, kM * kN, elements(results, "C[0]", true));
  add("os, weights read", kClosedForm, kN * kK * kFolds, elements(results, "B[0]", false));
  STRIA_ASSIGN(const PartSimulation overlapping,
               simulated("\"dataflow\": \"ws\", \"overlap_folds\": true"));
  add("ws, folds that overlap", kClosedForm, kFolds * kAcross * kM + 2 * 32 + 32 - 2,
      static_cast<double>(overlapping.ticks()));
  return out;
}

}  // namespace stria::sim
