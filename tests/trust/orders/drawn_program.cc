// SPDX-License-Identifier: Apache-2.0
#include "drawn_program.h"

#include "legal_program.h"
#include "stria/passes/all_passes.h"
#include "tile_case.h"
#include "tile_program.h"

namespace stria::trust {
namespace {

const differential::GeneratorOptions kTile = {
    .min_statements = 1, .max_statements = 4, .reuse_percent = 80, .main_type_percent = 60};

// What networks are made of: chains that passes fuse, inline, lay out, pad and transform. The
// random ones have few of them.
struct LayerText {
  const char* text;
  std::vector<std::vector<int>> sizes;  // of each input, by number of a size; under 0: itself
};
const std::vector<LayerText>& layers() {
  static const std::vector<LayerText> all = {
      {"function (A[M, K], B[K, N], C[N]) -> (R) {\n"
       "  T[m, n : M, N] = +(A[m, k] * B[k, n]);\n  U = T + C;\n  R = relu(U);\n}",
       {{0, 1}, {1, 2}, {2}}},
      {"function (A[N, C]) -> (R) {\n  M[n, 0 : N, 1] = >(A[n, c]);\n  E = exp(A - M);\n"
       "  S[n, 0 : N, 1] = +(E[n, c]);\n  R = E / S;\n}",
       {{0, 1}}},
      {"function (A[H, W, C], B[I, J, C, O]) -> (R) {\n"
       "  T[x, y, o : H - I + 1, W - J + 1, O] = +(A[x + i, y + j, c] * B[i, j, c, o]);\n"
       "  R = relu(T);\n}",
       {{3, 3, 0}, {-3, -3, 0, 1}}},
      {"function (A[H, W, C], B[I, J, C, O], C0[O]) -> (R) {\n"
       "  T[x, y, o : H, W, O] = +(A[x + i - 1, y + j - 1, c] * B[i, j, c, o]);\n"
       "  R = tanh(T + C0);\n}",
       {{3, 3, 0}, {-3, -3, 0, 1}, {1}}},
      {"function (A[M, N], B[M, N]) -> (R) {\n  T[n, m : N, M] = =(A[m, n]);\n  U = exp(T);\n"
       "  V[m, n : M, N] = =(U[n, m]);\n  R = V + B;\n}",
       {{0, 1}, {0, 1}}},
      {"function (A[M, N]) -> (R, S) {\n  B = A * A;\n  S[m : M] = +(B[m, n]);\n  C = B + 1;\n"
       "  D = abs(C);\n  R = D - A;\n}",
       {{0, 3}}},
      {"function (A[M, K], B[K, N], C[N, L]) -> (R) {\n"
       "  T[m, n : M, N] = +(A[m, k] * B[k, n]);\n  R[m, l : M, L] = +(T[m, n] * C[n, l]);\n}",
       {{0, 1}, {1, 2}, {2, 3}}},
  };
  return all;
}

stripe::Program network(Dice& dice) {
  const LayerText& layer = dice.one_of(layers());
  std::vector<int64_t> sizes;
  for (int n = 0; n < 3; ++n) sizes.push_back(dice.between(1, 5));
  sizes.push_back(dice.between(4, 9));
  const DataType type = dice.one_of(
      std::vector<DataType>{DataType::fp32, DataType::fp32, DataType::fp64, DataType::fp16});
  std::map<std::string, tile::TensorType> types;
  const std::vector<std::string> names = {
      "A", "B", layer.sizes.size() > 2 && layer.sizes[1].size() == 4 ? "C0" : "C"};
  for (size_t i = 0; i < layer.sizes.size(); ++i) {
    tile::TensorType& tensor = types[names[i]];
    tensor.type = type;
    for (int size : layer.sizes[i])
      tensor.sizes.push_back(size < 0 ? -size : sizes[static_cast<size_t>(size)]);
  }
  Result<stripe::Program> program = passes::lower_text(layer.text, types);
  passes::mark_constants(*program, dice.next());
  return std::move(program).value();
}

stripe::Program tile_program(uint64_t seed) {
  const differential::GeneratedProgram generated = differential::generate(seed, kTile);
  std::map<std::string, tile::TensorType> types;
  for (const differential::GeneratedTensor& input : generated.inputs)
    types[input.name] = {input.type, input.sizes};
  Result<stripe::Program> program = passes::lower_text(generated.tile_text(), types);
  passes::mark_constants(*program, seed);
  return std::move(program).value();
}

}  // namespace

Result<Programs> Programs::load() {
  Programs out;
  out.machines_.push_back({"small machine", small_machine(), {}});
  STRIA_ASSIGN(std::vector<Shipped> shipped, shipped_pipelines());
  for (Shipped& one : shipped) {
    STRIA_ASSIGN(Pipeline pipeline, parse_pipeline({one.name, one.pipeline}, one.settings,
                                                   one.model, passes::pass_registry()));
    out.machines_.push_back({one.name, std::move(one.model), std::move(pipeline)});
  }
  return out;
}

DrawnProgram Programs::draw(uint64_t number) const {
  Dice dice(number);
  DrawnProgram out;
  const size_t chance = dice.below(20);
  if (chance < 12) {
    out.kind = "legal";
    out.name = fmt::format("legal program {}", number);
    LegalOptions small;
    small.depth = 3;
    small.points = 60;
    out.program = legal_program(number, small);
    return out;
  }
  out.name = fmt::format("Tile program {}", number);
  out.program = dice.once_in(2) ? network(dice) : tile_program(number);
  out.machine = dice.below(machines_.size());
  const std::vector<PipelineStep>& steps = machines_[out.machine].shipped.steps;
  const size_t begun = chance < 16 || steps.empty() ? 0 : 1 + dice.below(steps.size());
  for (size_t i = 0; i < begun; ++i) out.begins.push_back(steps[i].json);
  out.kind = begun > 0 ? "begun" : "tile";
  if (begun > 0) out.name += fmt::format(", {} steps of {}", begun, machines_[out.machine].name);
  return out;
}

}  // namespace stria::trust
