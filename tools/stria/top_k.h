// SPDX-License-Identifier: Apache-2.0
// What `stria run --top-k` prints: the largest elements of rows, with the names of classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stria/base/result.h"
#include "stria/type/host_tensor.h"

namespace stria::command {

// Elements of a row: the last dimension, but for those of size 1 behind it. 1 if there is no row.
int64_t classes_of(const std::vector<int64_t>& sizes);

// Names of classes by index: the lines of a file.
struct Labels {
  std::string file;
  std::vector<std::string> names;  // empty: no file is given
};
Result<Labels> read_labels(const std::string& file);

// Whether a result gets labels. If rows of some result have as many elements as there are labels,
// those results alone; else every one, and it must have enough of them: invalid_argument if not.
// `note` gets what users should know of a file with too many lines.
struct LabelledResult {
  std::string name;
  std::vector<int64_t> sizes;
};
Result<std::vector<bool>> match_labels(const Labels& labels,
                                       const std::vector<LabelledResult>& results,
                                       std::string& note);

// "scores: fp32[2, 1000], the 2 largest of each row\n  [0]  17  0.83  tabby\n…", without an end of
// line. The first rows only, and the last line says so. Equal elements in the order of their
// indices; NaN behind all others. `labels` may be null.
std::string describe_top_k(const std::string& name, const HostTensor& tensor, int64_t k,
                           const Labels* labels);

}  // namespace stria::command
