// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/fuse/chain_kernels.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "stria/base/text.h"
#include "stria/cost/staged/chain_time.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/fuse/fuse_blocks.h"
#include "stria/passes/fuse/fusion_plan.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/kernel_memo.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// A longer row has to gain so much more, as a part of its cost: not all is counted that kernels
// wait for each other.
constexpr double kMore = 0.03;
// Kernels of a chain, at most.
constexpr size_t kMostKernels = 16;
constexpr int kMostProducts = 2;  // of these

// Does a view inside reach beyond its tensor? Tiles of that are not copied in.
bool reaches_beyond(const Block& block) {
  for (const Refinement& ref : block.refs)
    if (ref.tags.has(stripe::tag::kClamp) || ref.tags.has(stripe::tag::kZeroFill)) return true;
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
    return stmt.block() && reaches_beyond(*stmt.block());
  });
}

// The ways to run products, and all others.
struct Ways {
  std::vector<cost::ChainWay> products, rest;
};

// A row of kernels and what they have in common.
struct Row {
  size_t first = 0, last = 0;
  size_t head = 0;  // what may be fused with the first kernel instead, else the first kernel
  size_t tail = 0;  // the same of the last kernel
  std::vector<std::vector<std::string>> common;  // by kernel and common index: its own name
  std::vector<int64_t> ranges;
  std::set<std::string> summed;  // the common indices over which the last kernel sums
};

class Chainer {
 public:
  Chainer(Block& parent, const TensorNames& around, const ChainKernelsOptions& options,
          const Ways& ways, PassContext& context)
      : parent_(parent),
        of_(std::in_place, parent, around),
        options_(options),
        ways_(ways),
        context_(context) {}

  void run() {
    for (const Statement& stmt : parent_.stmts)
      if (!stmt.deps.empty() || parent_.tags.has(stripe::tag::kDeps))
        return context_.skipped(parent_.name, "its statements are ordered by dependencies");
    known_at_.assign(parent_.stmts.size(), kUnknown);
    chained_.assign(parent_.stmts.size(), false);
    std::map<size_t, Block> chains;  // by their first kernels
    for (size_t next = 0; next < parent_.stmts.size();) {
      const size_t taken = chain_from(next, chains);
      for (size_t k = next; k < next + taken; ++k) chained_[k] = true;
      next += std::max<size_t>(taken, 1);
    }
    std::vector<Statement> done;
    for (size_t k = 0; k < parent_.stmts.size(); ++k) {
      if (const auto made = chains.find(k); made != chains.end())
        done.emplace_back(std::move(made->second));
      else if (!chained_[k])
        done.push_back(std::move(parent_.stmts[k]));
    }
    parent_.stmts = std::move(done);
    std::erase_if(parent_.refs, [&](const Refinement& ref) { return inside_.count(ref.into) > 0; });
  }

 private:
  // A kernel by itself. Those that differ in names of tensors alone are one.
  struct Alone {
    Block form;
    bool product = false;
    std::vector<std::pair<int64_t, bool>> tensors;  // by view: bytes, and whether it is temporary
    std::unique_ptr<cost::AloneCost> cost;          // null: not asked
  };
  // A row, by what its kernels are, and how tensors go through it.
  struct KnownRow {
    std::vector<size_t> kernels;
    std::vector<std::vector<std::string>> common;
    std::vector<std::pair<std::pair<size_t, size_t>, bool>> tensors;  // first view, inside
    bool operator==(const KnownRow&) const = default;
  };
  struct FoundRow {
    KnownRow row;
    double below = 0;                         // of what takes less
    std::optional<cost::ChainChoice> choice;  // the best one
  };

  bool is_product(const Block& block) const { return block.tags.has_all(options_.products); }

  // Makes a chain of the kernels from this one on; how many, 0: none.
  size_t chain_from(size_t first, std::map<size_t, Block>& chains) {
    double gain = 0;
    std::optional<Row> row;
    cost::ChainChoice chosen;
    std::vector<Row> rows = rows_from(first);
    std::erase_if(rows, [&](const Row& next) { return !may_gain(next); });
    const bool has_head = first > 0 && !chained_[first - 1] && fused_with_next(first - 1);
    for (Row& next : rows) {
      next.head = first - (has_head ? 1 : 0);
      next.tail = next.last + (fused_with_next(next.last) ? 1 : 0);
    }
    for (Row& next : rows) {
      const cost::ChainTensors tensors = tensors_of(next);
      std::vector<cost::ChainKernel> kernels;
      for (size_t k = next.first; k <= next.last; ++k)
        kernels.push_back({block(k), ways_of(k), next.common[k - first]});
      context_.matched();
      // What is around the row runs by itself if it is not fused with it.
      double around = 0;
      for (const size_t k : {next.head, next.tail})
        if (k < next.first || k > next.last)
          around += cost_of(known(k), *block(k), tensors_of(next), How::best);
      const double below = options_.at_most * apart(next, tensors_of(next), How::rough) - around;
      const std::optional<cost::ChainChoice>& choice = best_chain(next, kernels, tensors, below);
      if (!choice) {
        context_.note(fmt::format("{} and {} more: no tiles of {} take less than {:.0f}",
                                  block(first)->name, next.last - first,
                                  next.last == first ? "it" : "them", below));
        continue;
      }
      const double together = choice->cycles + around;
      const double apart = time_apart(next, together, rows.size() == 1);
      context_.note(fmt::format("{} and {} more: {}, apart {:.0f}", block(first)->name,
                                next.last - first, cost::to_string(*choice), apart));
      if (together >= options_.at_most * apart) continue;
      if (row && apart - together <= gain + kMore * together) continue;
      gain = apart - together;
      row = std::move(next);
      chosen = *choice;
    }
    if (!row) return 0;
    std::optional<Block> made = make(*row, chosen);
    if (!made) return 0;
    chains.emplace(first, *std::move(made));
    context_.changed();
    context_.count("chains");
    if (chosen.step > 0) context_.count("sums in steps");
    if (sums_from_point_to_point(*row, chosen)) context_.count("sums over common indices");
    return row->last - row->first + 1;
  }

  static bool sums_from_point_to_point(const Row& row, const cost::ChainChoice& choice) {
    for (size_t c = 0; c < row.ranges.size(); ++c)
      if (row.summed.count(row.common.back()[c]) > 0 && choice.tile[c] < row.ranges[c]) return true;
    return false;
  }

  const Block* block(size_t k) const { return parent_.stmts[k].block(); }
  const std::vector<cost::ChainWay>* ways_of(size_t k) const {
    return is_product(*block(k)) ? &ways_.products : &ways_.rest;
  }

  bool may_be_in(size_t k) const {
    const Block* kernel = block(k);
    return kernel && kernel->tags.has(stripe::tag::kKernel) && kernel->location.empty() &&
           !reaches_beyond(*kernel);
  }

  // The rows of kernels that begin with this one.
  std::vector<Row> rows_from(size_t first) {
    std::vector<Row> out;
    if (!may_be_in(first)) return out;
    if (options_.rows != "several")
      if (std::optional<Row> one = row_of_one(first)) out.push_back(*std::move(one));
    if (options_.rows == "one") return out;
    std::optional<FusionParent> of;
    Block all;
    Row row{first, first, first, first, {}, {}, {}};
    int products = is_product(*block(first));
    for (size_t k = first + 1; k < parent_.stmts.size() && k - first < kMostKernels; ++k) {
      if (!may_be_in(k)) break;
      // Products beside each other want one unit, and each of several is waited for.
      if (is_product(*block(k)) && (is_product(*block(k - 1)) || products == kMostProducts)) break;
      products += is_product(*block(k));
      const Block* next = block(k);
      const Block& before = k == first + 1 ? *block(first) : all;
      // What sums over a common index ends the row, since others need the sums whole.
      if (std::optional<Row> sums = summing(row, before, *next, k, of ? *of : *of_))
        out.push_back(*std::move(sums));
      const FusionPlan plan = plan_fusion(before, *next, of ? *of : *of_, {});
      if (plan.tensor.empty() || plan.refusal || !is_plain(plan, before, *next)) break;
      if (!add(row, plan)) break;
      if (!of) of.emplace(*of_);
      FusionPlan local = plan;
      const FusionShape shape = shape_of(local);
      of->fusing(before, *next);
      all = fuse_blocks(before, *next, *of, local, shape).block;
      row.last = k;
      // With its sums the row has all tiles of the row without, and more.
      if (out.empty() || out.back().last != k) out.push_back(row);
    }
    return out;
  }

  // A product by itself: in two loops, of which the outer one brings an operand for all points of
  // the other.
  std::optional<Row> row_of_one(size_t k) const {
    const Block& kernel = *block(k);
    if (!is_product(kernel) || why_points_do_not_commute(kernel, of_->names())) return std::nullopt;
    Row out{k, k, k, k, {{}}, {}, {}};
    for (const IndexRole& role : index_roles(kernel)) {
      if (role.kind != IndexKind::output || kernel.find_index(role.name)->affine) continue;
      out.common[0].push_back(role.name);
      out.ranges.push_back(role.range);
    }
    if (out.ranges.size() < 2) return std::nullopt;
    return out;
  }

  // The row and this kernel, which sums over a common index; nullopt if it does not.
  static std::optional<Row> summing(Row row, const Block& before, const Block& next, size_t k,
                                    const FusionParent& of) {
    const FusionPlan plan = plan_fusion(before, next, of, {true});
    if (plan.tensor.empty() || plan.refusal || !is_plain(plan, before, next)) return std::nullopt;
    const std::vector<IndexRole> roles = index_roles(next);
    const auto is_sum = [&](const FusedIndex& index) {
      return std::any_of(roles.begin(), roles.end(), [&](const IndexRole& role) {
        return role.name == index.name && role.kind == IndexKind::reduction;
      });
    };
    if (std::none_of(plan.indices.begin(), plan.indices.end(), is_sum) || !add(row, plan))
      return std::nullopt;
    // An index that a kernel before does not share may have been the only one.
    const std::vector<std::string>& own = row.common.back();
    for (const FusedIndex& index : plan.indices)
      if (is_sum(index) && std::find(own.begin(), own.end(), index.name) != own.end())
        row.summed.insert(index.name);
    if (row.summed.empty()) return std::nullopt;
    row.last = k;
    return row;
  }

  // Do points of both meet one by one, without borders?
  static bool is_plain(const FusionPlan& plan, const Block& a, const Block& b) {
    return plan.recompute <= 1 && !plan.needs_local &&
           std::all_of(plan.indices.begin(), plan.indices.end(), [&](const FusedIndex& index) {
             return index.b_points == 1 && index.a_step == 1 && index.a_first == 0 &&
                    index.a_points == 1 && a.find_index(index.a_index)->range == index.range &&
                    b.find_index(index.name)->range == index.range;
           });
  }

  static FusionShape shape_of(FusionPlan& plan) {
    FusionShape shape;
    shape.local = plan.may_be_local;
    for (SharedTensor& other : plan.others) other.local = other.may_be_local;
    return shape;
  }

  // Adds the next kernel to the row: indices that it does not share are common no more. The fused
  // block before has the names of the last kernel.
  static bool add(Row& row, const FusionPlan& plan) {
    if (row.common.empty()) {
      row.common.resize(2);
      for (const FusedIndex& index : plan.indices) {
        row.common[0].push_back(index.a_index);
        row.common[1].push_back(index.name);
        row.ranges.push_back(index.range);
      }
      return !row.ranges.empty();
    }
    std::vector<std::vector<std::string>> common(row.common.size() + 1);
    std::vector<int64_t> ranges;
    for (const FusedIndex& index : plan.indices) {
      const std::vector<std::string>& before = row.common.back();
      const auto at = std::find(before.begin(), before.end(), index.a_index);
      if (at == before.end()) return false;
      const auto c = static_cast<size_t>(at - before.begin());
      for (size_t k = 0; k < row.common.size(); ++k) common[k].push_back(row.common[k][c]);
      common.back().push_back(index.name);
      ranges.push_back(row.ranges[c]);
    }
    row.common = std::move(common);
    row.ranges = std::move(ranges);
    return !row.ranges.empty();
  }

  // Units of one kind gain nothing from each other, unless what is between kernels has no room. A
  // kernel by itself may gain from a second loop.
  bool may_gain(const Row& row) const {
    if (row.first == row.last) return true;
    std::set<bool> kinds;
    for (size_t k = row.first; k <= row.last; ++k) kinds.insert(is_product(*block(k)));
    return kinds.size() > 1;
  }

  cost::ChainTensors tensors_of(const Row& row) const {
    cost::ChainTensors out;
    std::map<std::string, int64_t> users;
    for (size_t k = row.head; k <= row.tail; ++k) {
      std::set<std::string> seen;
      for (const Refinement& view : block(k)->refs)
        if (view.dir != RefDir::none && seen.insert(view.from).second)
          users[view.from] += k >= row.first && k <= row.last;
    }
    for (const auto& [name, count] : users) {
      const Refinement* ref = of_->find(name);
      if (!ref) continue;
      cost::ChainTensor& tensor = out[name];
      tensor.bytes = ref->shape.element_count() * byte_size(ref->shape.type);
      tensor.temporary = ref->dir == RefDir::none;
      tensor.inside = tensor.temporary && of_->users(name) == count && count > 1;
    }
    return out;
  }

  // Which of `alone_` the kernel is.
  size_t known(size_t k) {
    size_t& at = known_at_[k];
    if (at == kUnknown) at = known(*block(k), is_product(*block(k)));
    return at;
  }
  size_t known(const Block& kernel, bool product) {
    Alone next{nameless(kernel), product, {}};
    next.form.location = {};
    for (const Refinement& view : kernel.refs) {
      const Refinement* ref = view.dir == RefDir::none ? nullptr : of_->find(view.from);
      if (ref)
        next.tensors.emplace_back(ref->shape.element_count() * byte_size(ref->shape.type),
                                  ref->dir == RefDir::none);
    }
    const size_t hash = shape_hash(next.form);
    for (auto [it, end] = by_hash_.equal_range(hash); it != end; ++it)
      if (const Alone& old = alone_[it->second];
          old.product == next.product && old.tensors == next.tensors && old.form == next.form)
        return it->second;
    by_hash_.emplace(hash, alone_.size());
    alone_.push_back(std::move(next));
    return alone_.size() - 1;
  }

  // The product and the kernel after it as a later step would fuse them; null if it would not.
  const Block* fused_with_next(size_t k) {
    auto [at, added] = fused_.try_emplace(k);
    std::optional<Block>& out = at->second;
    if (added) out = fuse_with_next(k);
    return out ? &*out : nullptr;
  }
  std::optional<Block> fuse_with_next(size_t k) const {
    if (options_.fused_reqs.empty() || k + 1 >= parent_.stmts.size()) return std::nullopt;
    const Block *a = block(k), *b = block(k + 1);
    if (!a || !b || !is_product(*a) || !b->tags.has_all(options_.fused_reqs)) return std::nullopt;
    FusionPlan plan = plan_fusion(*a, *b, *of_, {});
    if (plan.tensor.empty() || plan.refusal) return std::nullopt;
    const FusionShape shape = shape_of(plan);
    return fuse_blocks(*a, *b, *of_, plan, shape).block;
  }

  // What kernels cost by themselves, or fused where that costs less. `row` with what may be fused
  // with its first and its last kernel.
  enum class How { least, rough, best };
  double apart(const Row& row, const cost::ChainTensors& tensors, How how) {
    double before = 0, out = 0;  // of the kernels before the last one, and of all
    for (size_t k = row.head; k <= row.tail; ++k) {
      double next = out + cost_of(known(k), *block(k), tensors, how);
      if (k > row.head)
        if (const Block* both = fused_with_next(k - 1))
          next = std::min(next, before + cost_of(known(*both, true), *both, tensors, how));
      before = out;
      out = next;
    }
    return out;
  }
  double cost_of(size_t kernel, const Block& form, const cost::ChainTensors& tensors, How how) {
    Alone& of = alone_[kernel];
    if (!of.cost)
      of.cost = std::make_unique<cost::AloneCost>(form, of.product ? ways_.products : ways_.rest,
                                                  tensors);
    return how == How::least ? of.cost->least() : of.cost->best(how == How::rough);
  }

  const std::optional<cost::ChainChoice>& best_chain(const Row& row,
                                                     const std::vector<cost::ChainKernel>& kernels,
                                                     const cost::ChainTensors& tensors,
                                                     double below) {
    KnownRow key;
    std::map<std::string, std::pair<size_t, size_t>> first;
    key.common = row.common;
    for (size_t k = row.first; k <= row.last; ++k) {
      key.kernels.push_back(known(k));
      size_t v = 0;
      for (const Refinement& view : block(k)->refs) {
        if (view.dir == RefDir::none) continue;
        const auto at = first.try_emplace(view.from, k - row.first, v++).first;
        const auto tensor = tensors.find(view.from);
        key.tensors.emplace_back(at->second, tensor != tensors.end() && tensor->second.inside);
      }
    }
    // What was found is the best. That nothing is below one number says nothing of a larger one.
    auto at = std::find_if(rows_.begin(), rows_.end(),
                           [&](const FoundRow& found) { return found.row == key; });
    if (at == rows_.end()) at = rows_.insert(at, FoundRow{std::move(key), -1, std::nullopt});
    if (!at->choice && below > at->below) {
      at->choice = cost::best_chain(kernels, row.ranges, tensors, below);
      at->below = below;
    }
    return at->choice;
  }

  // The cost of all kernels without the chain; a rough one, if that is below `together` already. A
  // bound of it, if that is clear and the row is `alone`: there is no other to compare it with.
  double time_apart(const Row& row, double together, bool alone) {
    const cost::ChainTensors tensors = tensors_of(row);
    if (alone) {
      const double least = apart(row, tensors, How::least);
      if (together < options_.at_most * least) return least;
    }
    const double rough = apart(row, tensors, How::rough);
    if (options_.at_most * rough <= together || !std::isfinite(rough)) return rough;
    return apart(row, tensors, How::best);
  }

  // Cuts the kernels into the tiles and fuses them; nullopt if they do not meet as they should.
  std::optional<Block> make(const Row& row, const cost::ChainChoice& choice) {
    FusionParent of = *of_;
    std::optional<Block> all;
    std::vector<std::string> inside;
    std::vector<std::string> names;  // of the loops, by common index
    size_t cut = 0;
    for (size_t c = 0; c < choice.tile.size(); ++c) cut += choice.tile[c] < row.ranges[c];
    for (size_t k = row.first; k <= row.last; ++k) {
      Block next = *block(k);
      std::map<std::string, int64_t> tile;
      const std::vector<std::string>& own = row.common[k - row.first];
      for (size_t c = 0; c < choice.tile.size(); ++c)
        if (choice.tile[c] < row.ranges[c]) tile[own[c]] = choice.tile[c];
      split_block(next, tile);
      Block* inner = next.stmts[0].block();
      if (k == row.first && choice.step > 0) inner = &split_sum(*inner, choice);
      dress(*inner, k, *choice.ways[k - row.first]);
      names = own;
      if (!all) {
        all = std::move(next);
        // A chain is no product any more.
        all->tags = {};
        all->tags.set(stripe::tag::kKernel);
        continue;
      }
      FusionPlan plan = plan_fusion(*all, next, of, {!row.summed.empty() && k == row.last});
      if (plan.tensor.empty() || plan.refusal || plan.indices.size() != cut ||
          !is_plain(plan, *all, next)) {
        context_.skipped(block(k)->name, plan.refusal ? plan.refusal.reason()
                                                      : "its tiles do not meet those before it");
        return std::nullopt;
      }
      const FusionShape shape = shape_of(plan);
      of.fusing(*all, next);
      FusedBlock fused = fuse_blocks(std::move(*all), std::move(next), of, plan, shape);
      inside.insert(inside.end(), fused.inside.begin(), fused.inside.end());
      all = std::move(fused.block);
    }
    finish(*all, row.first, choice, names);
    of_.emplace(of);
    inside_.insert(inside.begin(), inside.end());
    return all;
  }

  // Makes a loop over the steps of a sum; the tile inside it.
  static Block& split_sum(Block& steps, const cost::ChainChoice& choice) {
    split_block(steps, {{choice.sum, choice.step}});
    steps.tags.set(stripe::tag::kSteps);
    if (choice.steps_under_way > 1) steps.tags.set(stripe::tag::kPipeline, choice.steps_under_way);
    return *steps.stmts[0].block();
  }

  // Tags and unit of a tile.
  void dress(Block& tile, size_t k, const cost::ChainWay& way) const {
    for (const std::string& tag : is_product(*block(k)) ? options_.products_set : options_.rest_set)
      tile.tags.set(tag);
    if (way.rates.spread)
      tile.tags.set(way.other_unit ? stripe::tag::kSpreadOrUnit : stripe::tag::kSpread);
    tile.location = {{{way.rates.unit->name, {}, {}}}};
  }

  // The name of the tensor behind a kernel's view.
  std::string tensor_of(size_t k, size_t view) const {
    for (const Refinement& ref : block(k)->refs)
      if (ref.dir != RefDir::none && view-- == 0) return ref.from;
    return "";
  }

  void finish(Block& all, size_t first, const cost::ChainChoice& choice,
              const std::vector<std::string>& names) const {
    std::set<std::string> in_tiles;
    for (const auto& [k, view] : choice.tile_by_tile) in_tiles.insert(tensor_of(first + k, view));
    all.tags.set_all(options_.fused_set);
    for (Refinement& ref : all.refs)
      if (ref.dir != RefDir::none && in_tiles.count(ref.from) > 0)
        ref.tags.set(stripe::tag::kTileByTile);
    if (choice.under_way > 0) all.tags.set(stripe::tag::kTilesUnderWay, choice.under_way);
    std::map<std::string, int64_t> loops;
    bool two = false;
    for (size_t c = 0; c < names.size(); ++c) {
      if (choice.outer[c]) loops[names[c]] = 1;
      two |= !choice.outer[c];
    }
    if (!two) return;
    split_block(all, loops);
    Block& steps = *all.stmts[0].block();
    steps.tags.set(stripe::tag::kSteps);
    if (choice.steps_under_way > 1) steps.tags.set(stripe::tag::kPipeline, choice.steps_under_way);
  }

  Block& parent_;
  std::optional<FusionParent> of_;  // always there
  std::set<std::string> inside_;    // the parent's tensors that chains allocate now
  const ChainKernelsOptions& options_;
  const Ways& ways_;
  PassContext& context_;
  std::map<size_t, std::optional<Block>> fused_;  // by position of the product
  static constexpr size_t kUnknown = std::numeric_limits<size_t>::max();
  std::vector<size_t> known_at_;  // by statement: position in `alone_`
  std::vector<bool> chained_;     // by statement
  std::vector<Alone> alone_;
  std::unordered_multimap<size_t, size_t> by_hash_;
  std::deque<FoundRow> rows_;
};

Result<std::vector<cost::ChainWay>> ways_on(const ChainKernelsOptions& options,
                                            const std::vector<std::string>& units,
                                            const HardwareModel& model) {
  std::vector<cost::ChainWay> out;
  for (const std::string& unit : units) {
    if (unit.empty()) continue;
    const ExecutionUnit* found = model.find_executor(unit);
    for (int way = 0; way < (found && found->count > 1 ? 2 : 1); ++way) {
      STRIA_ASSIGN(cost::StagedRates rates,
                   cost::staged_rates(model, {unit, options.memory, options.global,
                                              options.transfer, way > 0, options.banks, 0}));
      out.push_back({std::move(rates), unit != units[0]});
    }
  }
  return out;
}

}  // namespace

void describe(ChainKernelsOptions& options, OptionFields& fields) {
  fields.tags("parent_reqs", options.parent_reqs, "tags of the block around the kernels");
  fields.tags("products", options.products, "tags of the kernels that run on `unit`");
  fields.unit("unit", options.unit, "execution unit of products");
  fields.unit("or_unit", options.or_unit,
              "another one, for products for which it takes less time; \"\" = none",
              WhenEmpty::none);
  fields.unit("rest", options.rest, "execution unit of all other kernels");
  fields.add("rows", options.rows,
             "kernels of a chain: \"several\", \"one\" product in two loops, or \"all\" of these",
             {"all", "several", "one"});
  fields.tags("fused_reqs", options.fused_reqs,
              "tags of kernels that a later step fuses with the product before them where that "
              "costs less; none: there is no such step");
  fields.unit("memory", options.memory, "memory unit that tiles are in");
  fields.unit("global", options.global, "memory unit that tensors come from");
  fields.unit("transfer", options.transfer, "transfer unit that copies tiles");
  fields.add("banks", options.banks, "instances of `memory` that tensors are spread over",
             {1, 1 << 20});
  fields.add("at_most", options.at_most,
             "cost of a chain over that of its kernels by themselves, at most");
  fields.set_tags("fused_set", options.fused_set, "tags of a chain");
  fields.set_tags("products_set", options.products_set, "tags of the tiles of products");
  fields.set_tags("rest_set", options.rest_set, "tags of all other tiles");
}

Status chain_kernels(stripe::Program& program, const ChainKernelsOptions& options,
                     PassContext& context) {
  const HardwareModel& model = context.model();
  for (const auto& [name, unit] :
       {std::pair("unit", options.unit), std::pair("rest", options.rest),
        std::pair("memory", options.memory), std::pair("global", options.global),
        std::pair("transfer", options.transfer)})
    if (unit.empty()) return invalid_argument("/{}: chain_kernels needs this unit", name);
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/unit", options.unit));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/or_unit", options.or_unit));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/rest", options.rest));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/memory", options.memory));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::hold, "/global", options.global));
  STRIA_RETURN_IF_ERROR(check_unit(model, UnitUse::run, "/transfer", options.transfer));
  if (const MemoryUnit* memory = model.find_memory(options.memory);
      memory && options.banks > memory->count)
    return make_error(StatusCode::out_of_range, "/banks: {}, but the hardware model has {} of '{}'",
                      options.banks, memory->count, options.memory);
  auto products = ways_on(options, {options.unit, options.or_unit}, model);
  auto rest = ways_on(options, {options.rest}, model);
  for (const auto* of : {&products, &rest})
    if (!of->ok()) {
      context.skipped("all kernels", of->status().message());
      return Status();
    }
  const Ways ways{*std::move(products), *std::move(rest)};
  PlaceNames names;
  for_each_selected_place(program, options.parent_reqs,
                          [&](Block& parent, const stripe::Place& at) {
                            Chainer(parent, names.around(at), options, ways, context).run();
                          });
  return Status();
}

}  // namespace stria::passes
