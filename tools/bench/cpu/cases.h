// SPDX-License-Identifier: Apache-2.0
// What the processor's benchmark runs: the sets of sets/*.json, each row as a Tile program with the
// sizes of its inputs and what its peers need to know.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stria/base/status.h"
#include "stria/type/tensor_type.h"

namespace stria::bench {

// C[m, n] = A[m, k] * B[k, n], or B[n, k] if it is transposed.
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  bool constant = false;  // B holds weights: either side may pack it before any timing
  bool transposed = false;
  DataType type = DataType::fp32;  // of A, B and C; on GPUs alone
};

// Square images, channels last: O[y, x, k] = sum of I[.., c] * F[i, j, c, k], padded so that
// stride 1 keeps the size. Inputs I, F (weights) and, if fused, B (by channel) and R (like O), of
// which max(O + B + R, 0) is made. With relu, max(O, 0) is.
struct Conv {
  int64_t size = 0, in = 0, kernel = 0, stride = 0, out = 0;
  bool depthwise = false;  // in == out, F[i, j, c]
  bool fused = false;
  bool relu = false;
  int64_t batch = 1;            // peers of the processor know only 1, and no relu
  bool fewer_products = false;  // ours may take fewer products than the sum has, so peers may
  int64_t pad() const { return kernel / 2; }
  int64_t out_size() const { return (size + 2 * pad() - kernel) / stride + 1; }
};

// So many streams of one length that are read, and written.
struct Mix {
  int reads = 0, writes = 0;
};

// Tensors are fp32 unless the set says otherwise.
struct Case {
  std::string name;
  std::string text;  // Tile
  std::map<std::string, TensorType> inputs;
  std::set<std::string> constants;
  double operations = 0;  // of the mathematical function; a multiply-add is two
  double bytes = 0;       // that must be read and written; of memory sets
  double times = 1;       // that its network runs it
  std::optional<Gemm> gemm;
  std::optional<Conv> conv;
  std::optional<Mix> mix;
};

enum class SetKind {
  gemm,     // against peers
  conv,     // against peers
  memory,   // against reading and writing as much
  step,     // with derivatives, over the function alone
  threads,  // two threads over one
  compile,  // milliseconds from text to code, of all rows as one program
};

struct CaseSet {
  std::string name, what;
  SetKind kind = SetKind::gemm;
  double geomean = 0, worst = 0;  // goals: ratio of throughputs; 0: none
  double at_most = 0;             // goal of `step`; of `compile`, in milliseconds
  double kept_at_most = 0;        // goal of `compile` with the cache
  std::vector<Case> cases;
};

// The folder that was carried beside the executable, or that of the source tree.
std::filesystem::path sets_folder(const std::filesystem::path& source);
// Is one of the names in the list, parted by commas, the beginning of `name`? An empty list is all.
bool begins_with_one_of(const std::string& name, const std::string& list);

// All sets of the folder, by name. A file that is not as it should be fails with its name.
Result<std::vector<CaseSet>> read_sets(const std::filesystem::path& folder);

}  // namespace stria::bench
