// SPDX-License-Identifier: Apache-2.0
#include "kernel_shapes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "stria/base/text.h"
#include "stria/type/tensor_shape.h"

namespace stria::lanes {

const char* const kRowsWithFiveSums =
    "function (A[M, N], B[N]) -> (R) { S[i, 0 : M, 1] = +(A[i, j]); C = A - S / N;"
    " Q[i, 0 : M, 1] = +(C[i, j] * C[i, j]); D = C / sqrt(Q / N + 0.01) + B;"
    " H[i, 0 : M, 1] = >(D[i, j]); E = exp(D - H); T[i, 0 : M, 1] = +(E[i, j]); F = E / T;"
    " U[i, 0 : M, 1] = +(F[i, j] * D[i, j]); R = F - U * A; }";

namespace {

// A dimension is a letter; I and J are those of a window, G is a small number of groups or steps.
struct Kind {
  const char* text;
  std::vector<std::pair<const char*, const char*>> inputs;  // name, dimensions
  const char* tiled = "";                                   // a product's indices
  bool floats_only = false;
  const char* again = "";    // dimensions that count twice in its points
  bool overlapping = false;  // what its points add to: parts of the output are no groups
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
       {{"A", "MK"}, {"B", "KN"}},
       "ijk"},
      {"function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }",
       {{"A", "MK"}, {"B", "NK"}},
       "ijk"},
      {"function (A[K, M], B[K, N]) -> (C) { C[i, j : M, N] = +(A[k, i] * B[k, j]); }",
       {{"A", "KM"}, {"B", "KN"}},
       "ijk"},
      {"function (A[K, M], B[N, K], V[N]) -> (R) { C[i, j : M, N] = +(A[k, i] * B[j, k]);"
       " R = (C + V > 0 ? C + V : 0); }",
       {{"A", "KM"}, {"B", "NK"}, {"V", "N"}},
       "ijk"},
      {"function (A[G, M, K], B[G, K, N]) -> (C) { C[g, i, j : G, M, N] = +(A[g, i, k] * B[g, k, "
       "j]); }",
       {{"A", "GMK"}, {"B", "GKN"}},
       "gijk"},
      {"function (A[M, K], B[K]) -> (C) { C[i : M] = +(A[i, k] * B[k]); }",
       {{"A", "MK"}, {"B", "K"}},
       "ik"},
      {"function (A[K, M], B[K]) -> (C) { C[i : M] = +(A[k, i] * B[k]); }",
       {{"A", "KM"}, {"B", "K"}},
       "ik"},
      {"function (A[M], B[M]) -> (C) { C[] = +(A[i] * B[i]); }", {{"A", "M"}, {"B", "M"}}, "i"},
      {"function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = >(A[i, k] + B[j, k]); }",
       {{"A", "MK"}, {"B", "NK"}}},
      {"function (D[G, M, N, K], W[I, J, L, K]) -> (O) { O[n, x, y, c : G, M, N, L] ="
       " +(D[n, x + i - 1, y + j - 1, e] * W[i, j, c, e]); }",
       {{"D", "GMNK"}, {"W", "IJLK"}},
       "nxycije"},
      {"function (D[G, M, N, K], W[I, J, K, L]) -> (O) { O[n, x, y, c : G, (M + 1) / 2, (N + 1) / "
       "2, L] ="
       " +(D[n, 2 * x + i - 1, 2 * y + j - 1, e] * W[i, j, e, c]); }",
       {{"D", "GMNK"}, {"W", "IJKL"}},
       "nxycije"},
      {"function (D[G, M, N, K], W[I, J, K]) -> (O) { O[n, x, y, c : G, M, N, K] ="
       " +(D[n, x + i - 1, y + j - 1, c] * W[i, j, c]); }",
       {{"D", "GMNK"}, {"W", "IJK"}},
       "nxycij"},
      {"function (D[M, N, L], W[I, J, L, K]) -> (O) { O[2 * x + i, 3 * y + j, e : 2 * M + I, 3 * N "
       "+ J, K] ="
       " +(D[x, y, c] * W[i, j, c, e]) no_defract; }",
       {{"D", "MNL"}, {"W", "IJLK"}},
       "xyijce",
       false,
       "",
       true},
      {"function (D[M, N], W[I, J]) -> (O) { O[2 * x + i, 3 * y + j : 2 * M + I, 3 * N + J] ="
       " +(D[x, y] * W[i, j]); }",
       {{"D", "MN"}, {"W", "IJ"}},
       "xyij"},
      {"function (D[G, M, N, K], E[G, M, N, L]) -> (W) { W[u, v, c, e : 3, 3, L, K] ="
       " +(D[n, x + u - 1, y + v - 1, e] * E[n, x, y, c]); }",
       {{"D", "GMNK"}, {"E", "GMNL"}},
       "uvcenxy"},
      {"function (A[M, N]) -> (S) { S[i : M] = +(A[i, j]); }", {{"A", "MN"}}},
      {"function (A[M, N]) -> (S) { S[j : N] = +(A[i, j]); }", {{"A", "MN"}}},
      {"function (A[M, N]) -> (S, H) { S[] = +(A[i, j]); H[] = >(A[i, j]); }", {{"A", "MN"}}},
      {"function (A[M, N]) -> (S) { S[i : M] = +(A[j, i + k]), k < 4; }", {{"A", "MN"}}},
      {"function (A[M]) -> (S) { S[i : M] = +(A[i - j]), j < M; }", {{"A", "M"}}, "", false, "M"},
      {"function (A[M, N]) -> (R) { H[i, 0 : M, 1] = >(A[i, j]); E = exp(A - H); S[i, 0 : M, 1] = "
       "+(E[i, j]);"
       " R = E / S; }",
       {{"A", "MN"}},
       "",
       true},
      {"function (A[M, N]) -> (R) { H[0, j : 1, N] = >(A[i, j]); E = exp(A - H); S[0, j : 1, N] = "
       "+(E[i, j]);"
       " R = E / S; }",
       {{"A", "MN"}},
       "",
       true},
      {"function (A[G, M, N], V[N], B[N]) -> (R) { S[g, i, 0 : G, M, 1] = +(A[g, i, j]); D = A - S "
       "/ N;"
       " Q[g, i, 0 : G, M, 1] = +(D[g, i, j] * D[g, i, j]); R = D / sqrt(Q / N + 0.01) * V + B; }",
       {{"A", "GMN"}, {"V", "N"}, {"B", "N"}},
       "",
       true},
      {kRowsWithFiveSums, {{"A", "MN"}, {"B", "N"}}, "", true},
      {"function (A[M, N]) -> (R) { R[j, i : N, M] = =(A[i, j]); }", {{"A", "MN"}}},
      {"function (A[G, M, N]) -> (R) { R[j, g, i : N, G, M] = =(A[g, i, j]); }", {{"A", "GMN"}}},
      {"function (A[M, N], B[N, M]) -> (R) { T[j, i : N, M] = =(A[i, j]); R = T + B; }",
       {{"A", "MN"}, {"B", "NM"}}},
      {"function (A[M, N], B[M, N], C[M, N], D[N, M]) -> (R) { T[j, i : N, M] = =(A[i, j]);"
       " U[j, i : N, M] = =(B[i, j]); V[j, i : N, M] = =(C[i, j]); R = (T + U) * (V - D); }",
       {{"A", "MN"}, {"B", "MN"}, {"C", "MN"}, {"D", "NM"}}},
      {"function (A[M, N], B[N]) -> (R) { R = (A + B) * A; }", {{"A", "MN"}, {"B", "N"}}},
      {"function (A[G, M, N]) -> (R) { R[g, i, j : G, M / 2, N / 2] = >(A[g, 2 * i + u, 2 * j + "
       "v]), u < 2, v < 2; }",
       {{"A", "GMN"}}},
  };
  return all;
}

}  // namespace

ShapedProgram random_shapes(uint64_t seed, bool products_only, double most_points) {
  using enum DataType;
  trust::Dice dice(seed);
  const Kind* chosen = &dice.one_of(kinds());
  while (products_only && !*chosen->tiled) chosen = &dice.one_of(kinds());
  const Kind& kind = *chosen;
  const std::vector<DataType> numbers = {fp32, i8,   fp16, i32, u8,  bf16,
                                         i64,  fp64, u32,  i16, u64, u16};
  const std::vector<DataType> floats = {fp32, fp64, fp16, bf16};
  const std::vector<DataType>& types = kind.floats_only ? floats : numbers;
  const DataType type = dice.one_of(types);
  std::map<char, int64_t> sizes;
  double points = most_points + 1;
  while (points > most_points) {
    points = 1;
    for (const auto& [name, dims] : kind.inputs)
      for (const char* dim = dims; *dim; ++dim) sizes[*dim] = 0;
    for (auto& [dim, size] : sizes) {
      size = dim == 'I' || dim == 'J' ? dice.between(1, 4) : random_size(dice, dim == 'G' ? 2 : 14);
      points *= static_cast<double>(size);
    }
    for (const char* dim = kind.again; *dim; ++dim) points *= static_cast<double>(sizes[*dim]);
  }
  ShapedProgram out{kind.text, {}, kind.overlapping, kind.tiled};
  for (const auto& [name, dims] : kind.inputs) {
    out.inputs[name].type = type;
    for (const char* dim = dims; *dim; ++dim) out.inputs[name].sizes.push_back(sizes[*dim]);
  }
  return out;
}

int64_t random_size(trust::Dice& dice, int octaves) {
  const int64_t least = int64_t{1} << dice.between(0, octaves - 1);
  return dice.between(least, 2 * least);
}

std::string listing(const ShapedProgram& program) {
  std::string out = program.text + "\n";
  for (const auto& [name, type] : program.inputs)
    out += fmt::format("{} {}\n", name, stria::to_string(type.type, type.sizes));
  return out;
}

}  // namespace stria::lanes
