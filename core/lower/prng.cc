// SPDX-License-Identifier: Apache-2.0
// A step of random numbers (rule M16): one kernel over groups of streams. Each group copies its
// part of the state. Then it runs the steps in order, each step over all streams of the group, so
// that numbers are written in the order of memory.
#include "stria/builtins/special.h"
#include "stria/lower/lowering.h"
#include "stria/stripe/tags.h"

namespace stria::lower_detail {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

constexpr int64_t kGroup = 64;  // streams: whole lines of memory, and enough groups for many cores

// One component of a combined Tausworthe generator:
// z' = ((z & mask) << far) ^ (((z << near) ^ z) >> back).
struct Component {
  const char* name;
  int near, back, far;
  uint32_t mask;
};
constexpr Component kComponents[] = {
    {"a", 13, 19, 12, 0xfffffffe}, {"b", 2, 25, 4, 0xfffffff8}, {"c", 3, 11, 17, 0xfffffff0}};

Refinement view(RefDir dir, const std::string& from, std::string into, std::vector<Affine> access,
                const TensorShape& whole, std::vector<int64_t> sizes) {
  Refinement ref;
  ref.dir = dir;
  ref.from = from;
  ref.into = std::move(into);
  ref.access = std::move(access);
  ref.shape = whole;
  for (size_t d = 0; d < sizes.size(); ++d) ref.shape.dims[d].size = sizes[d];
  return ref;
}

class Writer {
 public:
  explicit Writer(Block& block) : block_(block) {}
  std::string number(int64_t value) {
    const std::string name = fmt::format("n{}", value);
    if (numbers_.insert(name).second)
      block_.stmts.emplace_back(stripe::Constant{name, Scalar::of_int(DataType::u32, value)});
    return name;
  }
  std::string call(const char* function, DataType type, std::string into,
                   std::vector<std::string> from) {
    block_.stmts.emplace_back(stripe::Intrinsic{function, type, {into}, std::move(from)});
    return into;
  }
  std::string bits(const char* function, std::string into, std::string x, std::string y) {
    return call(function, DataType::u32, std::move(into), {std::move(x), std::move(y)});
  }

 private:
  Block& block_;
  std::set<std::string> numbers_;
};

// The statements of one step of one stream, over its words "a", "b", "c" and its number "value".
void add_step(Block& block) {
  Writer write(block);
  std::string all;
  for (const Component& part : kComponents) {
    const std::string z = part.name;
    block.stmts.emplace_back(stripe::Load{z, z});
    std::string low = write.bits("bit_left", z + "_near", z, write.number(part.near));
    low = write.bits("bit_xor", z + "_mixed", low, z);
    low = write.bits("bit_right", z + "_low", low, write.number(part.back));
    std::string high = write.bits("bit_and", z + "_masked", z, write.number(part.mask));
    high = write.bits("bit_left", z + "_high", high, write.number(part.far));
    const std::string next = write.bits("bit_xor", z + "_next", high, low);
    block.stmts.emplace_back(stripe::Store{next, z});
    all = all.empty() ? next : write.bits("bit_xor", "x" + z, all, next);
  }
  const std::string top = write.bits("bit_right", "top", all, write.number(8));
  const std::string whole = write.call("ident", DataType::fp32, "whole", {top});
  block.stmts.emplace_back(stripe::Constant{"scale", Scalar::of_float(DataType::fp32, 0x1p-24)});
  block.stmts.emplace_back(
      stripe::Store{write.call("mul", DataType::fp32, "number", {whole, "scale"}), "value"});
}

stripe::Index passed(const char* name) { return {name, 1, Affine::of(name), {}}; }

}  // namespace

Status lower_prng(Lowering& lowering, const tile::BoundStatement& statement,
                  const tile::BoundPrng& prng) {
  const TensorShape& state = lowering.shape(prng.state);
  const TensorShape& values = lowering.shape(prng.values);
  const std::string before = lowering.tensor(prng.state).name;
  const std::string after = lowering.tensor(prng.state_out).name;
  const std::string numbers = lowering.tensor(prng.values).name;
  const Affine g = Affine::of("g"), j = Affine::of("j"), k = Affine::of("k"), w = Affine::of("w");

  Block kernel;
  kernel.comments.push_back(statement.text);
  kernel.tags = sorted_tags({stripe::tag::kKernel, stripe::tag::kPrng});
  kernel.idxs.push_back({"g", kPrngStreams / kGroup, {}, {}});
  kernel.refs.push_back(
      view(RefDir::in, before, before, {Affine(0), g * kGroup}, state, {kPrngWords, kGroup}));
  kernel.refs.push_back(
      view(RefDir::out, after, after, {Affine(0), g * kGroup}, state, {kPrngWords, kGroup}));

  Block start;
  start.tags = sorted_tags({stripe::tag::kCopy});
  start.idxs = {{"k", kGroup, {}, {}}, {"w", kPrngWords, {}, {}}};
  start.refs.push_back(view(RefDir::in, before, before, {w, k}, state, {1, 1}));
  start.refs.push_back(view(RefDir::out, after, after, {w, k}, state, {1, 1}));
  start.stmts.emplace_back(stripe::Load{before, "word"});
  start.stmts.emplace_back(stripe::Store{"word", after});
  kernel.stmts.emplace_back(std::move(start));

  const int64_t count = values.dims[0].size;
  if (count > 0) {
    kernel.refs.push_back(
        view(RefDir::out, numbers, numbers, {Affine(0), g * kGroup}, values, {count, kGroup}));
    Block streams;
    streams.idxs = {passed("g"), passed("j"), {"k", kGroup, {}, {}}};
    streams.constraints.push_back(Affine(prng.count - 1) - j * kPrngStreams - g * kGroup - k);
    for (int64_t c = 0; c < kPrngWords; ++c)
      streams.refs.push_back(
          view(RefDir::inout, after, kComponents[c].name, {Affine(c), k}, state, {1, 1}));
    streams.refs.push_back(view(RefDir::out, numbers, "value", {Affine(0), k}, values, {1, 1}));
    add_step(streams);
    Block steps;
    steps.idxs = {passed("g"), {"j", count, {}, {}}};
    steps.refs.push_back(
        view(RefDir::inout, after, after, {Affine(0), Affine(0)}, state, {kPrngWords, kGroup}));
    steps.refs.push_back(view(RefDir::out, numbers, numbers, {j, Affine(0)}, values, {1, kGroup}));
    steps.stmts.emplace_back(std::move(streams));
    kernel.stmts.emplace_back(std::move(steps));
  }
  lowering.add_kernel(std::move(kernel));
  return {};
}

}  // namespace stria::lower_detail
