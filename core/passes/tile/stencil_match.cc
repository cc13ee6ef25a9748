// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/tile/stencil_match.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "stria/base/refusal.h"
#include "stria/base/status.h"
#include "stria/base/text.h"
#include "stria/rewrite/combiner.h"
#include "stria/rewrite/index_role.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

struct Views {
  std::vector<size_t> outs;
  std::vector<size_t> ins;
};

Views views_of(const Block& block) {
  Views views;
  for (size_t r = 0; r < block.refs.size(); ++r) {
    if (block.refs[r].dir == RefDir::in)
      views.ins.push_back(r);
    else if (block.refs[r].dir != RefDir::none)
      views.outs.push_back(r);
  }
  return views;
}

// Refuses a block that the instruction cannot compute, whichever index is which.
Refusal why_no_instruction(const Block& block, const StencilRules& rules, const Views& views) {
  if (!is_leaf(block)) return "it holds blocks or a special";
  if (views.ins.size() + views.outs.size() != block.refs.size()) return "it allocates";
  const stripe::Intrinsic* op = combiner(block);
  if (!op || op->name != "mul") return "it is no sum of products of one value of each input";
  const DataType type = rules.out_operands[0]->type;
  const Refinement& out = block.refs[views.outs[0]];
  if (op->type != type)
    return fmt::format("it multiplies in {}, the instruction in {}", name_of(op->type),
                       name_of(type));
  if (out.agg != stripe::Aggregation{stripe::AggOp::add, type})
    return fmt::format("'{}' is not summed as add.{}", out.into, name_of(type));
  return Refusal::none();
}

// Which indices and operands of one block and one stencil fit each other.
class Fit {
 public:
  Fit(const Block& block, const StencilRules& rules, bool even, const ViewStarts& starts)
      : block_(block), rules_(rules), even_(even), views_(views_of(block)), starts_(starts) {
    for (const Refinement& ref : block.refs) flat_.push_back(ref.flat_access());
    for (const stripe::Index& index : block.idxs) {
      std::vector<int64_t> strides;
      for (const Affine& flat : flat_) strides.push_back(flat.coefficient(index.name));
      strides_.push_back(std::move(strides));
      bool constrained = false;
      for (const Affine& form : block.constraints) constrained |= form.uses(index.name);
      constrained_.push_back(constrained);
    }
    const size_t indices = vary().size();
    virtual_ = rules.idxs.size() > indices ? rules.idxs.size() - indices : 0;
    if (views_.ins.size() != rules.ins || views_.outs.size() != rules.outs)
      why_not_ = fmt::format("it reads {} and writes {}, the stencil {} and {}", views_.ins.size(),
                             views_.outs.size(), rules.ins, rules.outs);
    else if (rules.instruction)
      why_not_ = why_no_instruction(block, rules, views_);
    inputs_commute_ = !why_not_ && combiner(block) != nullptr;
  }

  // The block's indices that a stencil may take, by position.
  std::vector<size_t> vary() const {
    std::vector<size_t> out;
    for (size_t i = 0; i < block_.idxs.size(); ++i)
      if (!block_.idxs[i].affine || block_.idxs[i].range > 1) out.push_back(i);
    return out;
  }

  // Refuses the view as this operand, whatever the indices are.
  Refusal why_not_operand(const InstructionOperand& operand, size_t ref) const {
    const Refinement& view = block_.refs[ref];
    if (operand.type == view.shape.type) return Refusal::none();
    return fmt::format("'{}' is {}, the operand '{}' {}", view.into, name_of(view.shape.type),
                       operand.name, name_of(operand.type));
  }

  // Refuses the block's index as this index of the stencil, whatever the operands are.
  Refusal why_not_index(const StencilRules::Index& wanted, size_t index) const {
    const stripe::Index& own = block_.idxs[index];
    const bool divides = wanted.size == kWholeRange || own.range % wanted.size == 0;
    if (even_ && !divides) return fmt::format("{} is not a multiple of {}", own.range, wanted.size);
    if (!rules_.instruction) return Refusal::none();
    if (!divides && !rules_.masked) {
      const bool is_summed = std::count(wanted.outs.begin(), wanted.outs.end(), 0) > 0;
      return fmt::format("{} is not a multiple of {}{}", own.range, wanted.size,
                         is_summed ? ": pad can make it one" : "");
    }
    if (constrained_[index]) return "a constraint names it: split_interior cuts it off";
    if (wanted.size == kWholeRange && own.range < 2)
      return fmt::format("a range of {} is below the 2 that a micro-kernel takes", own.range);
    return Refusal::none();
  }

  // Refuses the index if it does not move the view by the wanted stride.
  Refusal why_not_stride(int64_t wanted, size_t index, size_t ref) const {
    const int64_t stride = strides_[index][ref];
    const std::string& view = block_.refs[ref].into;
    if (wanted == kAnyStride) return Refusal::none();
    if (wanted != kOwnDim) {
      if (stride == wanted) return Refusal::none();
      return fmt::format("it moves {} by {}, not by {}", view, stride, wanted);
    }
    size_t dims = 0;
    bool by_ones = true;
    for (const Affine& form : block_.refs[ref].access) {
      const int64_t step = form.coefficient(block_.idxs[index].name);
      if (step != 0) ++dims;
      if (step != 0 && step != 1) by_ones = false;
    }
    if (dims == 1 && by_ones) return Refusal::none();
    if (dims == 0) return fmt::format("it does not move {}", view);
    return fmt::format("it does not move one dimension of {} by ones", view);
  }

  // The same for one operand, by number, with the step that a micro-kernel wants.
  Refusal why_not_out(const StencilRules::Index& wanted, size_t operand, size_t index) const {
    return why_not_moved(wanted.outs[operand], step(wanted.out_steps, operand), index,
                         views_.outs[operand]);
  }
  Refusal why_not_in(const StencilRules::Index& wanted, size_t operand, size_t index,
                     size_t ref) const {
    return why_not_moved(wanted.ins[operand], step(wanted.in_steps, operand), index, ref);
  }
  bool moves_out(const StencilRules::Index& wanted, size_t operand, size_t index) const {
    return moves(wanted.outs[operand], step(wanted.out_steps, operand), index,
                 views_.outs[operand]);
  }
  bool moves_in(const StencilRules::Index& wanted, size_t operand, size_t index, size_t ref) const {
    return moves(wanted.ins[operand], step(wanted.in_steps, operand), index, ref);
  }

  // Refuses a match if a row of an operand does not begin where a micro-kernel wants it.
  Refusal why_not_aligned(const StencilMatch& match) const {
    if (!rules_.instruction) return Refusal::none();
    for (size_t i = 0; i < rules_.ins; ++i)
      if (Refusal refusal = why_not_aligned(*rules_.in_operands[i], match.ins[i], match))
        return refusal;
    return why_not_aligned(*rules_.out_operands[0], match.outs[0], match);
  }

  // Nothing in the block moves with a virtual index.
  bool may_be_virtual(const StencilRules::Index& wanted) const {
    if (virtual_ == 0 || rules_.instruction || (even_ && wanted.size > 1)) return false;
    for (const auto* list : {&wanted.outs, &wanted.ins})
      for (const int64_t stride : *list)
        if (stride != kAnyStride && stride != 0) return false;
    return true;
  }

  // Do the dimensions of all operands agree with the instruction's, in order, each with one index?
  bool dims_agree(const StencilMatch& match) const {
    if (!rules_.instruction) return true;
    for (size_t i = 0; i < rules_.ins; ++i)
      if (!dims_agree(*rules_.in_operands[i], match.ins[i], match)) return false;
    return dims_agree(*rules_.out_operands[0], match.outs[0], match);
  }

  const Block& block_;
  const StencilRules& rules_;
  const bool even_;
  const Views views_;
  Refusal why_not_ = Refusal::none();  // set if there can be no match at all
  bool inputs_commute_ = false;
  size_t virtual_ = 0;  // by how many indices the stencil has more than the block

 private:
  static int64_t step(const std::vector<int64_t>& steps, size_t operand) {
    return steps.empty() ? kAnyStride : steps[operand];
  }

  Refusal why_not_moved(int64_t wanted, int64_t step, size_t index, size_t ref) const {
    if (Refusal refusal = why_not_stride(wanted, index, ref)) return refusal;
    return why_not_stride(step, index, ref);
  }

  bool moves(int64_t wanted, int64_t step, size_t index, size_t ref) const {
    if (step != kAnyStride && strides_[index][ref] != step) return false;
    if (wanted == kAnyStride) return true;
    if (wanted != kOwnDim) return strides_[index][ref] == wanted;
    return !why_not_stride(wanted, index, ref);
  }

  Refusal why_not_aligned(const InstructionOperand& operand, size_t ref,
                          const StencilMatch& match) const {
    const Refinement& view = block_.refs[ref];
    const int64_t bytes = byte_size(view.shape.type);
    if (operand.align_bytes <= bytes) return Refusal::none();
    int64_t multiple = std::gcd(starts_.empty() ? 0 : starts_[ref], flat_[ref].constant());
    for (const auto& [name, step] : flat_[ref].terms()) {
      size_t index = 0;
      while (block_.idxs[index].name != name) ++index;
      const bool along_row = !operand.dims.empty() && is_index(operand.dims.back(), index, match);
      const int64_t tile = match.tile_of(block_, rules_, index);
      if (along_row && block_.idxs[index].affine) {
        // A row begins where its index does.
        const Affine& from = *block_.idxs[index].affine;
        multiple = std::gcd(multiple, times(step, from.constant()));
        for (const auto& [outer, coefficient] : from.terms())
          multiple = std::gcd(multiple, times(step, coefficient));
      }
      if (!along_row)
        multiple = std::gcd(multiple, step);
      else if (tile < block_.idxs[index].range)
        multiple = std::gcd(multiple, times(step, tile));
    }
    if (multiple % (operand.align_bytes / bytes) == 0) return Refusal::none();
    return fmt::format("rows of '{}' begin at multiples of {} bytes, the operand '{}' wants {}",
                       view.into, multiple * bytes, operand.name, operand.align_bytes);
  }

  // Is the block's index the stencil's index of that name?
  bool is_index(const std::string& name, size_t index, const StencilMatch& match) const {
    for (size_t s = 0; s < rules_.idxs.size(); ++s)
      if (rules_.idxs[s].name == name) return match.idxs[s] == index;
    return false;
  }

  bool dims_agree(const InstructionOperand& operand, size_t ref, const StencilMatch& match) const {
    std::vector<std::string> wanted, have;
    for (const std::string& dim : operand.dims)
      for (size_t s = 0; s < rules_.idxs.size(); ++s)
        if (rules_.idxs[s].name == dim && match.idxs[s])
          wanted.push_back(block_.idxs[*match.idxs[s]].name);
    for (const Affine& form : block_.refs[ref].access) {
      size_t taken = 0;
      for (const std::optional<size_t>& index : match.idxs) {
        if (!index || !form.uses(block_.idxs[*index].name)) continue;
        have.push_back(block_.idxs[*index].name);
        ++taken;
      }
      if (taken > 1) return false;
    }
    return wanted == have;
  }

  std::vector<Affine> flat_;                   // by refinement
  std::vector<std::vector<int64_t>> strides_;  // by index, then refinement
  std::vector<bool> constrained_;              // by index
  const ViewStarts& starts_;
};

class Search {
 public:
  // Without `aligned`, alignments do not matter.
  explicit Search(const Fit& fit, bool aligned = true) : fit_(fit), aligned_(aligned) {
    match_.idxs.resize(fit.rules_.idxs.size());
    match_.outs = fit.views_.outs;
    match_.ins.resize(fit.rules_.ins);
  }

  std::optional<StencilMatch> run() {
    if (fit_.why_not_) return std::nullopt;
    const std::vector<size_t> vary = fit_.vary();
    Candidates candidates;
    for (const StencilRules::Index& wanted : fit_.rules_.idxs) {
      std::vector<size_t>& list = candidates.emplace_back();
      for (const size_t index : vary) {
        bool fits = !fit_.why_not_index(wanted, index);
        for (size_t o = 0; o < fit_.rules_.outs && fits; ++o)
          fits = fit_.moves_out(wanted, o, index);
        if (fits) list.push_back(index);
      }
    }
    if (fit_.rules_.instruction &&
        fit_.why_not_operand(*fit_.rules_.out_operands[0], fit_.views_.outs[0]))
      return std::nullopt;
    if (!has_partners(candidates)) return std::nullopt;
    // The first search finds the lowest cost. It tries partners that fit well first, so that the
    // bound excludes others early. The second search finds the first match of that cost, in the
    // order that decides among equals.
    place_input(0, candidates);
    goal_ = std::move(best_);
    tried_.clear();
    best_.reset();
    if (goal_) place_input(0, std::move(candidates));
    return best_;
  }

 private:
  // For each index of the stencil, the indices of the block that it may be.
  using Candidates = std::vector<std::vector<size_t>>;

  bool has_partners(const Candidates& candidates) const {
    for (size_t s = 0; s < candidates.size(); ++s)
      if (candidates[s].empty() && !fit_.may_be_virtual(fit_.rules_.idxs[s])) return false;
    return true;
  }

  void place_input(size_t operand, Candidates candidates) {
    if (operand == fit_.rules_.ins) {
      // If an earlier order of the inputs had the same candidates, the costs are the same.
      if (!fit_.rules_.instruction) {
        if (std::find(tried_.begin(), tried_.end(), candidates) != tried_.end()) return;
        tried_.push_back(candidates);
      }
      candidates_ = std::move(candidates);
      if (!goal_) sort_candidates();
      taken_.assign(fit_.block_.idxs.size(), false);
      seen_.assign(fit_.rules_.idxs.size() + 1, {});
      bound();
      unused_ = 1;
      for (const stripe::Index& index : fit_.block_.idxs)
        unused_ = times(unused_, std::max<int64_t>(index.range, 1));
      return place_index(0, 1, 1, fit_.virtual_);
    }
    for (size_t v = 0; v < fit_.views_.ins.size(); ++v) {
      const size_t ref = fit_.views_.ins[v];
      if (!fit_.inputs_commute_ && v != operand) continue;
      if (std::find(match_.ins.begin(), match_.ins.begin() + static_cast<ptrdiff_t>(operand),
                    ref) != match_.ins.begin() + static_cast<ptrdiff_t>(operand))
        continue;
      if (fit_.rules_.instruction && fit_.why_not_operand(*fit_.rules_.in_operands[operand], ref))
        continue;
      Candidates left(candidates.size());
      for (size_t s = 0; s < candidates.size(); ++s)
        for (const size_t index : candidates[s])
          if (fit_.moves_in(fit_.rules_.idxs[s], operand, index, ref)) left[s].push_back(index);
      match_.ins[operand] = ref;
      if (has_partners(left)) place_input(operand + 1, std::move(left));
    }
  }

  // `points` and `tiles` are products over the indices taken so far; unused_ is that of all others.
  void place_index(size_t at, int64_t points, int64_t tiles, size_t virtual_left) {
    if (cannot_win(at, points, tiles)) return;
    if (at == fit_.rules_.idxs.size()) return accept(times(points, unused_), times(tiles, unused_));
    if (is_dominated(at, points, tiles)) return;
    const StencilRules::Index& wanted = fit_.rules_.idxs[at];
    for (const size_t index : candidates_[at]) {
      if (taken_[index]) continue;
      const int64_t range = std::max<int64_t>(fit_.block_.idxs[index].range, 1);
      const int64_t size = wanted.size == kWholeRange ? range : wanted.size;
      const int64_t count = ceil_div(range, size);
      const int64_t before = unused_;
      taken_[index] = true;
      unused_ = product_without_taken();
      match_.idxs[at] = index;
      place_index(at + 1, times(points, times(count, size)), times(tiles, count), virtual_left);
      taken_[index] = false;
      unused_ = before;
    }
    if (virtual_left == 0 || !fit_.may_be_virtual(wanted)) return;
    match_.idxs[at].reset();
    place_index(at + 1, times(points, std::max<int64_t>(wanted.size, 1)), tiles, virtual_left - 1);
  }

  int64_t product_without_taken() const {
    int64_t product = 1;
    for (size_t i = 0; i < taken_.size(); ++i)
      if (!taken_[i]) product = times(product, std::max<int64_t>(fit_.block_.idxs[i].range, 1));
    return product;
  }

  // A bound: every index of the stencil that is still to be placed pads as little, and makes as few
  // tiles, as with the best of its candidates.
  bool cannot_win(size_t at, int64_t points, int64_t tiles) const {
    if (goal_ && best_) return true;
    if (!goal_ && !best_) return false;
    const auto left = static_cast<double>(unused_);
    StencilMatch least;
    least.tiles = no_less(static_cast<double>(tiles) * left / merged_[at]);
    least.cost = plus(no_less(static_cast<double>(points) * left * padded_[at]),
                      times(fit_.rules_.startup_cost, least.tiles));
    return goal_ ? is_better(*goal_, least) : !is_better(least, *best_);
  }

  // The least integer that is not below the number. The number is exact to 14 digits.
  static int64_t no_less(double number) {
    const double least = std::ceil(number * (1 - 1e-14));
    return least < 9e18 ? static_cast<int64_t>(least) : std::numeric_limits<int64_t>::max();
  }

  // Puts those candidates first that pad least; of equals, those that make few tiles.
  void sort_candidates() {
    for (size_t s = 0; s < candidates_.size(); ++s) {
      const int64_t wanted = fit_.rules_.idxs[s].size;
      auto padded = [&](size_t index) {
        const int64_t range = std::max<int64_t>(fit_.block_.idxs[index].range, 1);
        const int64_t size = wanted == kWholeRange ? range : wanted;
        const int64_t whole = times(ceil_div(range, size), size);
        return std::pair(static_cast<double>(whole) / static_cast<double>(range),
                         -static_cast<double>(std::min(size, range)));
      };
      std::stable_sort(candidates_[s].begin(), candidates_[s].end(),
                       [&](size_t a, size_t b) { return padded(a) < padded(b); });
    }
  }

  // Computes the bounds of cannot_win and is_dominated from the candidates.
  void bound() {
    const size_t count = fit_.rules_.idxs.size();
    for (std::vector<double>* bounds : {&padded_, &merged_, &rates_}) bounds->assign(count + 1, 1);
    for (size_t s = count; s-- > 0;) {
      const StencilRules::Index& wanted = fit_.rules_.idxs[s];
      double padded = std::numeric_limits<double>::infinity();
      double merged = 1;
      double rate = 0;
      if (fit_.may_be_virtual(wanted)) {
        padded = static_cast<double>(std::max<int64_t>(wanted.size, 1));
        rate = 1 / padded;
      }
      for (const size_t index : candidates_[s]) {
        const int64_t range = std::max<int64_t>(fit_.block_.idxs[index].range, 1);
        const int64_t size = wanted.size == kWholeRange ? range : wanted.size;
        const auto tiles = static_cast<double>(ceil_div(range, size));
        padded = std::min(padded, tiles * static_cast<double>(size) / static_cast<double>(range));
        merged = std::max(merged, static_cast<double>(range) / tiles);
        rate = std::max(rate, 1 / static_cast<double>(size));
      }
      padded_[s] = padded_[s + 1] * padded;
      merged_[s] = merged_[s + 1] * merged;
      rates_[s] = rates_[s + 1] * rate;
    }
  }

  // Has the search been here before with the same indices taken, and at no higher cost? What
  // follows multiplies points and tiles by the same factors as then, and tiles by at most
  // rates_[at] times the factor of points. A pair that is cheaper at both ends of this range stays
  // cheaper. For an instruction it also matters which index is which, so this test is left out; and
  // so it is for blocks of more than 64 indices.
  bool is_dominated(size_t at, int64_t points, int64_t tiles) {
    if (fit_.rules_.instruction || taken_.size() > 64) return false;
    uint64_t key = 0;
    for (const bool taken : taken_) key = 2 * key + (taken ? 1 : 0);
    const double rate = static_cast<double>(fit_.rules_.startup_cost) * rates_[at];
    const auto cost = [&](int64_t p, int64_t t) {
      return static_cast<double>(p) + rate * static_cast<double>(t);
    };
    std::vector<std::pair<int64_t, int64_t>>& others = seen_[at][key];
    for (const auto& [p, t] : others)
      if (p <= points &&
          (t <= tiles || (p < points && cost(p, t) < cost(points, tiles) * (1 - 1e-12))))
        return true;
    others.emplace_back(points, tiles);
    return false;
  }

  void accept(int64_t points, int64_t tiles) {
    match_.points = points;
    match_.tiles = tiles;
    match_.cost = plus(points, times(fit_.rules_.startup_cost, tiles));
    if (goal_ ? is_better(*goal_, match_) : best_ && !is_better(match_, *best_)) return;
    if (fit_.dims_agree(match_) && !(aligned_ && fit_.why_not_aligned(match_))) best_ = match_;
  }

  const Fit& fit_;
  const bool aligned_;
  Candidates candidates_;
  std::vector<Candidates> tried_;
  // At [n], n indices of the stencil are placed. For the others: by which factor they pad the
  // points at least, how many points they put into a tile at most, and how many tiles they make for
  // a point at most.
  std::vector<double> padded_, merged_, rates_;
  std::vector<bool> taken_;  // by index of the block
  int64_t unused_ = 1;       // product of the ranges of the others
  StencilMatch match_;
  std::optional<StencilMatch> best_;
  std::optional<StencilMatch> goal_;  // a match of the lowest cost, once that is known
  // By the number of placed indices and the set of taken ones: products of points and tiles.
  std::vector<std::unordered_map<uint64_t, std::vector<std::pair<int64_t, int64_t>>>> seen_;
};

std::string stride_text(int64_t stride) {
  if (stride == kOwnDim) return "1 dim";
  return stride == kAnyStride ? "any" : std::to_string(stride);
}

std::string strides_text(const std::vector<int64_t>& strides) {
  std::vector<std::string> out;
  for (const int64_t stride : strides) out.push_back(stride_text(stride));
  return "[" + join(out, ", ") + "]";
}

// Says for each index of the stencil without a partner why it has none, for this order of inputs.
void explain_order(const Fit& fit, const std::vector<size_t>& ins, std::vector<std::string>& out) {
  std::vector<std::string> inputs;
  for (const size_t ref : ins) inputs.push_back(fit.block_.refs[ref].into);
  const std::string order = inputs.empty() ? "" : " (inputs " + join(inputs, ", ") + ")";
  for (size_t i = 0; i < ins.size() && fit.rules_.instruction; ++i)
    if (const Refusal refusal = fit.why_not_operand(*fit.rules_.in_operands[i], ins[i]))
      return out.push_back(refusal.reason() + order);
  std::vector<std::string> found;
  bool all = true;
  for (const StencilRules::Index& wanted : fit.rules_.idxs) {
    std::vector<std::string> reasons, partners;
    for (const size_t index : fit.vary()) {
      Refusal refusal = fit.why_not_index(wanted, index);
      for (size_t o = 0; o < wanted.outs.size() && !refusal; ++o)
        refusal = fit.why_not_out(wanted, o, index);
      for (size_t i = 0; i < ins.size() && !refusal; ++i)
        refusal = fit.why_not_in(wanted, i, index, ins[i]);
      const std::string& name = fit.block_.idxs[index].name;
      if (refusal)
        reasons.push_back(fmt::format("{}: {}", name, refusal.reason()));
      else
        partners.push_back(name);
    }
    found.push_back(fmt::format("{}: {}", wanted.name, join(partners, " or ")));
    if (!partners.empty() || fit.may_be_virtual(wanted)) continue;
    all = false;
    out.push_back(fmt::format("no index is {} (outs {}, ins {}){}: {}", wanted.name,
                              strides_text(wanted.outs), strides_text(wanted.ins), order,
                              reasons.empty() ? "there is none" : join(reasons, "; ")));
  }
  if (all)
    out.push_back(fmt::format("each index has a partner, but not all at once{}: {}", order,
                              join(found, "; ")));
}

}  // namespace

Result<StencilRules> rules_of(const Instruction& instruction, int64_t startup_cost) {
  StencilRules rules;
  rules.name = instruction.name;
  rules.startup_cost = startup_cost;
  rules.instruction = &instruction;
  for (const InstructionOperand& operand : instruction.operands)
    (operand.written ? rules.out_operands : rules.in_operands).push_back(&operand);
  if (rules.out_operands.size() != 1)
    return make_error(StatusCode::failed_precondition,
                      "the instruction '{}' writes {} operands, not 1", instruction.name,
                      rules.out_operands.size());
  rules.ins = rules.in_operands.size();
  for (const Instruction::Index& from : instruction.indices) {
    if (from.size == 1) continue;
    auto stride = [&](const InstructionOperand* operand) {
      const auto& dims = operand->dims;
      return std::count(dims.begin(), dims.end(), from.name) > 0 ? kOwnDim : 0;
    };
    StencilRules::Index& index = rules.idxs.emplace_back();
    index.name = from.name;
    index.size = from.size == kAnySize ? kWholeRange : from.size;
    auto step = [&](const InstructionOperand* operand) {
      const auto wanted = operand->strides.find(from.name);
      return wanted == operand->strides.end() ? kAnyStride : wanted->second;
    };
    index.outs.push_back(stride(rules.out_operands[0]));
    index.out_steps.push_back(step(rules.out_operands[0]));
    for (const InstructionOperand* operand : rules.in_operands) {
      index.ins.push_back(stride(operand));
      index.in_steps.push_back(step(operand));
    }
  }
  return rules;
}

int64_t StencilMatch::tile_of(const Block& block, const StencilRules& rules, size_t index) const {
  for (size_t s = 0; s < idxs.size(); ++s)
    if (idxs[s] == index)
      return rules.idxs[s].size == kWholeRange ? std::max<int64_t>(block.idxs[index].range, 1)
                                               : rules.idxs[s].size;
  return 1;
}

bool is_better(const StencilMatch& a, const StencilMatch& b) {
  return a.cost != b.cost ? a.cost < b.cost : a.tiles < b.tiles;
}

std::optional<StencilMatch> match_stencil(const Block& block, const StencilRules& rules, bool even,
                                          const ViewStarts& starts) {
  const Fit fit(block, rules, even, starts);
  return Search(fit).run();
}

std::vector<std::string> why_no_match(const Block& block, const StencilRules& rules, bool even,
                                      const ViewStarts& starts) {
  const Fit fit(block, rules, even, starts);
  if (fit.why_not_) return {fit.why_not_.reason()};
  // The best of the matches that would do but for their alignment.
  if (const auto match = Search(fit, false).run())
    if (const Refusal refusal = fit.why_not_aligned(*match)) return {refusal.reason()};
  if (rules.instruction)
    if (const Refusal refusal = fit.why_not_operand(*rules.out_operands[0], fit.views_.outs[0]))
      return {refusal.reason()};
  std::vector<std::string> out;
  std::vector<size_t> ins = fit.views_.ins;
  explain_order(fit, ins, out);
  // Two inputs are also explained in the other order. More inputs have too many orders.
  if (fit.inputs_commute_ && ins.size() == 2) {
    std::swap(ins[0], ins[1]);
    explain_order(fit, ins, out);
  } else if (!fit.inputs_commute_ && ins.size() > 1) {
    out.push_back(
        "the inputs are taken as they stand: the block does not join them by one "
        "operation whose operands may change places");
  }
  return out;
}

}  // namespace stria::passes
