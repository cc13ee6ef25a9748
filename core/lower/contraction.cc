// SPDX-License-Identifier: Apache-2.0
// A contraction becomes kernels that fill what it leaves unwritten (usually none), then the kernel
// of the contraction itself: one, or one for each residue class of its output (coordinates.h).
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "stria/lower/iteration.h"
#include "stria/lower/lowering.h"
#include "stria/lower/unwritten.h"
#include "stria/stripe/tags.h"

namespace stria::lower_detail {
namespace {

using stripe::AggOp;
using stripe::RefDir;
using tile::BoundContraction;

std::optional<AggOp> agg_op(tile::Aggregation aggregation) {
  switch (aggregation) {
    case tile::Aggregation::sum: return AggOp::add;
    case tile::Aggregation::product: return AggOp::mul;
    case tile::Aggregation::max: return AggOp::max;
    case tile::Aggregation::min: return AggOp::min;
    case tile::Aggregation::assign: return std::nullopt;
  }
  return std::nullopt;
}

const char* combination_name(tile::Combination combination) {
  switch (combination) {
    case tile::Combination::none: return "none";
    case tile::Combination::add: return "add";
    case tile::Combination::mul: return "mul";
    case tile::Combination::equal: return "eq";
    case tile::Combination::cond: return "cond";
  }
  return "";
}

// Writes the default's elements where the contraction writes nothing.
stripe::Block default_kernel(const Lowering& lowering, const BoundContraction& contraction,
                             const SetPiece& piece) {
  const tile::BoundTensor& out = lowering.written(contraction.out);
  const std::string& from = lowering.tensor(*contraction.default_tensor).name;
  stripe::Block block;
  for (const SetPiece::Index& index : piece.indices)
    block.idxs.push_back({index.name, index.range, {}, {}});
  block.constraints = piece.constraints;
  block.tags = sorted_tags({stripe::tag::kCopy, stripe::tag::kKernel});
  block.comments.push_back(fmt::format("{} = {} where nothing else is written", out.name, from));
  block.refs.push_back(
      lowering.element(RefDir::in, *contraction.default_tensor, from, piece.point));
  block.stmts.emplace_back(stripe::Load{from, from});
  block.stmts.emplace_back(stripe::Store{from, out.name});
  block.refs.push_back(lowering.element(RefDir::out, lowering.joined().place(contraction.out),
                                        out.name, piece.point));
  return block;
}

// The elements of the piece, if they are a box and that is plain to see.
std::optional<Box> box_of(const SetPiece& piece) {
  if (!piece.constraints.empty()) return std::nullopt;
  Box box;
  std::set<std::string> used;
  for (const Affine& form : piece.point) {
    if (form.terms().size() > 1) return std::nullopt;
    box.push_back({form.constant(), form.constant()});
    if (form.terms().empty()) continue;
    const auto& [name, coefficient] = form.terms()[0];
    if (coefficient != 1 || !used.insert(name).second) return std::nullopt;
    for (const SetPiece::Index& index : piece.indices)
      if (index.name == name) box.back().upper += index.range - 1;
  }
  return box;
}

// Writes 0 or the default's elements where the contraction writes nothing.
void add_fill(Lowering& lowering, const BoundContraction& contraction, const SetPiece& piece) {
  const std::optional<Box> box = box_of(piece);
  if (box && lowering.joined().is_written_again(contraction.out, *box)) return;
  lowering.add_kernel(contraction.default_tensor ? default_kernel(lowering, contraction, piece)
                                                 : zero_kernel(lowering, contraction.out, piece));
}

// Without `default`, an output that is not wholly written may be a slip.
void warn_of_unwritten(Lowering& lowering, const BoundContraction& contraction,
                       const std::vector<SetPiece>& rest, bool all) {
  const std::string& name = contraction.out_name;
  if (all)
    return lowering.warn(
        contraction.out_span,
        fmt::format("no index set is valid: '{}' is 0 everywhere; if that is meant, say so with "
                    "'default'",
                    name));
  // The element that the first piece begins with, if its constraints allow that.
  std::string element = "a part of it";
  std::map<std::string, int64_t> origin;
  for (const SetPiece::Index& index : rest[0].indices) origin[index.name] = 0;
  if (std::all_of(rest[0].constraints.begin(), rest[0].constraints.end(),
                  [&](const Affine& form) { return form.evaluate(origin) >= 0; })) {
    std::vector<int64_t> at;
    for (const Affine& form : rest[0].point) at.push_back(form.evaluate(origin));
    element = fmt::format("for example {}[{}]", name, fmt::join(at, ", "));
  }
  __int128 count = 0;  // -1: not known without counting
  for (const SetPiece& piece : rest) {
    __int128 points = 1;
    for (const SetPiece::Index& index : piece.indices) points *= index.range;
    count = piece.constraints.empty() && count >= 0 ? count + points : -1;
  }
  std::string how_many = count < 0 ? "some" : fmt::format("{}", static_cast<int64_t>(count));
  lowering.warn(contraction.out_span,
                fmt::format("{} of the {} elements of '{}' {} never written and stay{} 0, {}; if "
                            "that is meant, say so "
                            "with 'default'",
                            how_many, lowering.shape(contraction.out).element_count(), name,
                            count == 1 ? "is" : "are", count == 1 ? "s" : "", element));
}

// All that the index sets depend on.
std::string text_of_sets(const BoundContraction& contraction, const std::vector<int64_t>& sizes,
                         const std::vector<std::string>& names) {
  std::string out = contraction.empty ? "empty" : contraction.no_defract ? "no_defract" : "";
  auto at = std::back_inserter(out);
  for (const tile::BoundIndex& index : contraction.indices)
    fmt::format_to(at, "{}:{}:{};", index.name, index.range.lower, index.range.upper);
  for (const Affine& form : contraction.constraints) fmt::format_to(at, "{};", form.to_string());
  auto access = [&](const std::vector<tile::DimAccess>& forms) {
    out += '[';
    for (const tile::DimAccess& form : forms)
      fmt::format_to(at, "{}/{},", form.numerator.to_string(), form.divisor);
  };
  access(contraction.out_access);
  for (const tile::BoundOperand& operand : contraction.operands) access(operand.access);
  for (size_t d = 0; d < sizes.size(); ++d) fmt::format_to(at, "]{}:{}", names[d], sizes[d]);
  return out;
}

// Without the rest, if nobody asks for it.
Result<ContractionSets> find_sets(Lowering& lowering, const BoundContraction& contraction,
                                  bool with_rest) {
  const std::vector<int64_t>& sizes = lowering.tensor(contraction.out).sizes;
  const std::vector<std::string> names = lowering.index_names(contraction.out);
  std::map<std::string, ContractionSets>& known = lowering.known_sets().contractions;
  std::string key = text_of_sets(contraction, sizes, names) + (with_rest ? "" : " alone");
  if (auto at = known.find(key); at != known.end()) return at->second;
  ContractionSets sets;
  SetWork& work = lowering.set_work();
  STRIA_ASSIGN(sets.iterations, make_iterations(contraction, work));
  // A sum of thousands of pieces asks thousands of times, often but to word a warning.
  if (const std::optional<Box> box = written_box(contraction); with_rest && box) {
    sets.rest = unwritten(*box, sizes, names);
  } else if (with_rest) {
    STRIA_ASSIGN(sets.rest,
                 work.needed([&] { return unwritten(sets.iterations.whole, sizes, names); }));
  }
  known.emplace(std::move(key), sets);
  return sets;
}

// The statements that combine the loaded operands; returns the scalar to store.
std::string add_combination(const BoundContraction& contraction,
                            const std::vector<std::string>& loaded, const std::string& result,
                            Names& scalars, stripe::Block& block) {
  auto intrinsic = [&](const char* name, DataType type, const std::string& into,
                       std::vector<std::string> inputs) {
    block.stmts.emplace_back(stripe::Intrinsic{name, type, {into}, std::move(inputs)});
    return into;
  };
  switch (contraction.combination) {
    case tile::Combination::none: return loaded[0];
    case tile::Combination::add:
      return intrinsic("add", contraction.combination_type, scalars.fresh(result),
                       {loaded[0], loaded[1]});
    case tile::Combination::mul:
      return intrinsic("mul", contraction.combination_type, scalars.fresh(result),
                       {loaded[0], loaded[1]});
    case tile::Combination::equal:
      return intrinsic("cmp_eq", contraction.combination_type, scalars.fresh(result),
                       {loaded[0], loaded[1]});
    case tile::Combination::cond: {
      std::string same = intrinsic("cmp_eq", contraction.combination_type, scalars.fresh("cmp_eq"),
                                   {loaded[0], loaded[1]});
      std::string zero = scalars.fresh("zero");
      DataType type = compute_type(contraction.value_type);
      block.stmts.emplace_back(stripe::Constant{
          zero, is_float(type) ? Scalar::of_float(type, 0) : Scalar::of_int(type, 0)});
      return intrinsic("cond", type, scalars.fresh(result), {same, loaded[2], zero});
    }
  }
  return {};
}

// One kernel over the points of `iteration`.
void add_contraction(Lowering& lowering, const tile::BoundStatement& statement,
                     const BoundContraction& contraction, Iteration iteration) {
  const tile::BoundTensor& out = lowering.written(contraction.out);
  stripe::Block block;
  block.comments.push_back(statement.text);
  std::optional<AggOp> op = agg_op(contraction.aggregation);
  std::vector<std::string> tags = {
      stripe::tag::kAggOp + std::string(op ? name_of(*op) : "assign"),
      stripe::tag::kCombOp + std::string(combination_name(contraction.combination)),
      stripe::tag::kContraction, stripe::tag::kKernel};
  if (lowering.joined().is_piece(contraction.out)) tags.emplace_back(stripe::tag::kPiece);
  block.tags = sorted_tags(std::move(tags));
  for (const Iteration::Index& index : iteration.indices)
    block.idxs.push_back({index.name, index.range, {}, {}});
  block.constraints = std::move(iteration.constraints);
  block.refs.reserve(contraction.operands.size() + 1);
  block.stmts.reserve(2 * contraction.operands.size());
  KernelScratch scratch;
  Names refs(scratch.resource()), scalars(scratch.resource());
  refs.fresh(out.name);
  std::vector<std::string> loaded;
  for (size_t i = 0; i < contraction.operands.size(); ++i) {
    tile::TensorId id = contraction.operands[i].tensor;
    std::string ref = refs.fresh(lowering.tensor(id).name);
    std::string scalar = scalars.fresh(ref);
    block.refs.push_back(
        lowering.element(RefDir::in, id, ref, std::move(iteration.operand_access[i])));
    block.stmts.emplace_back(stripe::Load{ref, scalar});
    loaded.push_back(std::move(scalar));
  }
  block.refs.push_back(lowering.element(RefDir::out, lowering.joined().place(contraction.out),
                                        out.name, std::move(iteration.out_access)));
  if (op) block.refs.back().agg = stripe::Aggregation{*op, contraction.aggregation_type};
  std::string result = add_combination(contraction, loaded, out.name, scalars, block);
  if (lowering.joined().adds_zero(contraction.out)) {
    const std::string zero = scalars.fresh("zero"), sum = scalars.fresh("add");
    block.stmts.emplace_back(stripe::Constant{zero, Scalar::of_float(out.type, 0)});
    block.stmts.emplace_back(stripe::Intrinsic{"add", out.type, {sum}, {result, zero}});
    result = sum;
  }
  block.stmts.emplace_back(stripe::Store{result, out.name});
  lowering.add_kernel(std::move(block));
}

}  // namespace

Status lower_contraction(Lowering& lowering, const tile::BoundStatement& statement,
                         const BoundContraction& contraction) {
  if (!lowering.has_elements(contraction.out)) return {};
  const tile::BoundTensor& out = lowering.tensor(contraction.out);
  std::vector<std::string> names(out.sizes.size());
  for (size_t d = 0; d < names.size(); ++d) {
    const tile::DimAccess& access = contraction.out_access[d];
    if (access.numerator.terms().size() == 1) names[d] = access.numerator.terms()[0].first;
  }
  lowering.set_index_names(contraction.out, std::move(names));
  const bool warns = !contraction.default_tensor && !contraction.in_derivative;
  const bool fills = !lowering.joined().is_filled(contraction.out);
  STRIA_ASSIGN(ContractionSets sets, find_sets(lowering, contraction, warns || fills));
  auto& [iterations, rest] = sets;
  if (!rest.empty() && warns)
    warn_of_unwritten(lowering, contraction, rest, iterations.whole.empty);
  if (fills)
    for (const SetPiece& piece : rest) add_fill(lowering, contraction, piece);
  const std::optional<Box> box = written_box(contraction);
  if (box && lowering.joined().is_written_again(contraction.out, *box)) return {};
  for (Iteration& iteration : iterations.kernels)
    add_contraction(lowering, statement, contraction, std::move(iteration));
  return {};
}

}  // namespace stria::lower_detail
