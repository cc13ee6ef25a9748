// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: how often n-grams of a pool occur in rows of integers.
#include <fmt/format.h>

#include <algorithm>

#include "stria/onnx/operators/constant_table.h"
#include "stria/onnx/operators/tile_text.h"

namespace stria::onnx::operators {
namespace {

struct Pool {
  std::vector<int64_t> integers, counts, indexes;
  std::vector<float> weights;
};

// n-grams of one length: their integers, and the number of the first among all n-grams.
struct Grams {
  int64_t length = 0, count = 0, first = 0;
  std::vector<int64_t> integers;
};

std::vector<Grams> grams_of(const Pool& pool) {
  std::vector<Grams> out;
  int64_t first = 0;
  for (size_t k = 0; k < pool.counts.size(); ++k) {
    const int64_t begin = pool.counts[k];
    const int64_t end = k + 1 < pool.counts.size() ? pool.counts[k + 1]
                                                   : static_cast<int64_t>(pool.integers.size());
    Grams grams;
    grams.length = static_cast<int64_t>(k) + 1;
    grams.count = (end - begin) / grams.length;
    grams.first = first;
    grams.integers.assign(pool.integers.begin() + begin, pool.integers.begin() + end);
    first += grams.count;
    out.push_back(std::move(grams));
  }
  return out;
}

Result<Pool> pool_of(NodeWriter& node) {
  if (node.has_attribute("pool_strings")) return node.not_supported("n-grams of strings");
  Pool out;
  STRIA_ASSIGN(out.integers, node.integers_attribute("pool_int64s"));
  STRIA_ASSIGN(out.counts, node.integers_attribute("ngram_counts"));
  STRIA_ASSIGN(out.indexes, node.integers_attribute("ngram_indexes"));
  STRIA_ASSIGN(out.weights, node.floats_attribute("weights"));
  int64_t all = 0;
  for (size_t k = 0; k < out.counts.size(); ++k) {
    const int64_t end =
        k + 1 < out.counts.size() ? out.counts[k + 1] : static_cast<int64_t>(out.integers.size());
    const int64_t length = static_cast<int64_t>(k) + 1;
    if (out.counts[k] < 0 || end < out.counts[k] ||
        end > static_cast<int64_t>(out.integers.size()) || (end - out.counts[k]) % length != 0)
      return node.error(
          fmt::format("ngram_counts: from {} to {} are no {}-grams", out.counts[k], end, length));
    all += (end - out.counts[k]) / length;
  }
  if (all != static_cast<int64_t>(out.indexes.size()) || all == 0)
    return node.error(fmt::format("{} n-grams, {} indexes", all, out.indexes.size()));
  if (*std::min_element(out.indexes.begin(), out.indexes.end()) < 0)
    return node.error("an index of an n-gram is negative");
  if (!out.weights.empty() && out.weights.size() != out.indexes.size())
    return node.error(fmt::format("{} n-grams, {} weights", all, out.weights.size()));
  return out;
}

// How often each of the n-grams stands in the rows of `x`, with `distance` from one integer of it
// to the next.
Result<std::string> occurrences(NodeWriter& node, const std::string& x, int64_t rows,
                                int64_t columns, const Grams& grams, int64_t distance) {
  std::string found;
  for (int64_t at = 0; at < grams.length; ++at) {
    std::vector<int64_t> wanted;
    for (int64_t g = 0; g < grams.count; ++g)
      wanted.push_back(grams.integers[static_cast<size_t>(g * grams.length + at)]);
    STRIA_ASSIGN(const std::string numbers, table(node, wanted, {1, 1, grams.count}));
    const std::string equal = node.let(fmt::format("{} == {}", x, numbers));
    if (at == 0) {
      found = equal;
      continue;
    }
    const std::string both = node.fresh();
    node.line(fmt::format("{}[r, p, g : {}, {}, {}] = =({}[r, p, g] * {}[r, p + {}, g]);", both,
                          rows, columns, grams.count, found, equal, at * distance));
    found = both;
  }
  const std::string out = node.fresh();
  node.line(fmt::format("{}[r, g : {}, {}] = +({}[r, p, g]);", out, rows, grams.count, found));
  return out;
}

}  // namespace

Status tf_idf_vectorizer(NodeWriter& node) {
  STRIA_ASSIGN(const Pool pool, pool_of(node));
  STRIA_ASSIGN(const std::string mode, node.string_attribute("mode", ""));
  STRIA_ASSIGN(const int64_t shortest, node.integer_attribute("min_gram_length", 1));
  STRIA_ASSIGN(const int64_t longest, node.integer_attribute("max_gram_length", 1));
  STRIA_ASSIGN(const int64_t skips, node.integer_attribute("max_skip_count", 0));
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.error(fmt::format("mode '{}': TF, IDF or TFIDF", mode));
  STRIA_ASSIGN(const std::string own, node.tensor(0));
  const int rank = node.rank(0);
  if (rank != 1 && rank != 2) return node.error(fmt::format("its input has rank {}", rank));
  const int64_t rows = rank == 2 ? node.size(0, 0) : 1, columns = node.size(0, rank - 1);
  const int64_t width = *std::max_element(pool.indexes.begin(), pool.indexes.end()) + 1;
  const std::string x = node.let(reshaped(own, {rows, columns, 1}));
  std::string all;
  for (const Grams& grams : grams_of(pool)) {
    if (grams.length < shortest || grams.length > longest || grams.count == 0) continue;
    // An integer alone has nothing to skip.
    std::string counts;
    for (int64_t distance = 1; distance <= (grams.length == 1 ? 1 : skips + 1); ++distance) {
      STRIA_ASSIGN(const std::string more, occurrences(node, x, rows, columns, grams, distance));
      counts = counts.empty() ? more : node.let(fmt::format("{} + {}", counts, more));
    }
    if (mode == "IDF") counts = node.let(fmt::format("min({}, 1)", counts));
    // Where the n-grams go in the result, with their weights.
    std::vector<float> places(static_cast<size_t>(grams.count * width), 0);
    for (int64_t g = 0; g < grams.count; ++g) {
      const auto gram = static_cast<size_t>(grams.first + g);
      const bool weighted = mode != "TF" && !pool.weights.empty();
      places[static_cast<size_t>(g * width + pool.indexes[gram])] =
          weighted ? pool.weights[gram] : 1;
    }
    STRIA_ASSIGN(const std::string matrix, table(node, places, {grams.count, width}));
    const std::string real = node.let(fmt::format("as_float({}, 32)", counts));
    const std::string part = node.fresh();
    node.line(fmt::format("{}[r, c : {}, {}] = +({}[r, g] * {}[g, c]);", part, rows, width, real,
                          matrix));
    all = all.empty() ? part : node.let(fmt::format("{} + {}", all, part));
  }
  const std::vector<int64_t> sizes =
      rank == 2 ? std::vector<int64_t>{rows, width} : std::vector<int64_t>{width};
  if (all.empty()) {
    STRIA_ASSIGN(all, table(node, std::vector<float>(static_cast<size_t>(rows * width)), sizes));
  }
  return node.result(0, reshaped(all, sizes));
}

}  // namespace stria::onnx::operators
