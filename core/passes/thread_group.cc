// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/thread_group.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "stria/base/text.h"
#include "stria/cost/group_plan.h"
#include "stria/cost/sum_lanes.h"
#include "stria/passes/in_order.h"
#include "stria/passes/index_role.h"
#include "stria/passes/split_block.h"
#include "stria/poly/holds_together.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool is_barrier(const Statement& stmt) {
  return stmt.special() && stmt.special()->name == "barrier";
}

bool names_a_unit(const Block& block) {
  return !block.location.empty() ||
         std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
           return stmt.block() && names_a_unit(*stmt.block());
         });
}

bool starts_at_zero(const Refinement& ref) {
  return std::all_of(ref.access.begin(), ref.access.end(),
                     [](const Affine& form) { return form == Affine(); });
}

// How a block's points are split over the lanes.
struct Split {
  struct Share {
    std::string index;
    int64_t lanes = 1;  // a power of two over 1
    bool operator==(const Share&) const = default;
  };
  // Neighbouring lanes first. An index may come again: first by its lower bits.
  std::vector<Share> shares;
  std::map<std::string, int64_t> runs;  // elements in a row that a lane takes, where more than one
  std::string vector;                   // the index whose runs become lanes of vectors; "" = none
  int64_t total() const {
    int64_t all = 1;
    for (const Share& share : shares) all *= share.lanes;
    return all;
  }
  // The lanes of a share's index in the shares before it.
  int64_t before(size_t share) const {
    int64_t all = 1;
    for (size_t i = 0; i < share; ++i)
      if (shares[i].index == shares[share].index) all *= shares[i].lanes;
    return all;
  }
  bool operator==(const Split&) const = default;
};

// A block inside the group whose points lanes share out, or that one lane runs.
struct Work {
  const Block* block = nullptr;
  std::string path;                           // "tiles/2"
  std::map<std::string, std::string> tensor;  // its refinements -> those of the group; "" = inside
  std::map<std::string, int64_t> around;      // elements that the start of what each one views is a multiple of
  std::vector<IndexRole> outputs;             // that lanes may share out
  std::optional<Split> split;
};

// An allocation of the group in registers.
struct Held {
  const Refinement* ref = nullptr;
  struct Share {
    size_t dim = 0;
    int64_t lanes = 1;
  };
  std::vector<Share> shares;  // as those of a split
  std::vector<int64_t> runs;  // of each dimension
  std::optional<size_t> vector;
};

class GroupThreader {
 public:
  // `commutes`: "" or why points of the group do not; `names` are those inside it.
  GroupThreader(Block& group, std::string commutes, TensorNames names, const GroupLanes& options,
                PassContext& context)
      : group_(group),
        commutes_(std::move(commutes)),
        names_(std::move(names)),
        options_(options),
        context_(context) {}

  std::string run() {
    if (std::string reason = why_no_group(); !reason.empty()) return reason;
    std::map<std::string, std::string> own;
    std::map<std::string, int64_t> steps;
    for (const Refinement& ref : group_.refs) {
      own[ref.into] = ref.into;
      steps[ref.into] = ref.dir == RefDir::none ? 0 : step_of(ref, 0, "");
    }
    if (std::string reason = collect(group_, names_, own, steps, ""); !reason.empty()) return reason;
    if (works_.empty()) return "it holds no blocks";
    if (std::string reason = hold(); !reason.empty()) return reason;
    for (Work& work : works_)
      if (!work.split) work.split = plan(work, copied_runs(work));
    describe_groups();
    for (const Work& work : works_) describe(work);
    next_ = 0;
    spread(group_);
    for (const Held& held : held_) distribute(held);
    if (group_.location.empty()) {
      stripe::LocationUnit unit;
      unit.name = options_.group;
      for (const Index& index : group_.idxs)
        if (!index.affine && index.range > 1) unit.units.push_back(Affine::of(index.name));
      group_.location.path = {std::move(unit)};
    }
    return "";
  }

 private:
  std::string why_no_group() const {
    if (group_.tags.has("parallel")) return "it is parallel already";
    for (const Statement& stmt : group_.stmts)
      if (stmt.block() && names_a_unit(*stmt.block())) return "blocks inside have their units";
    if (!group_.location.empty()) return "";
    if (!commutes_.empty()) return commutes_;
    for (const Index& index : group_.idxs)
      if (index.affine && index.range > 1) return "an index runs from an affine form";
    for (const IndexRole& role : index_roles(group_))
      if (role.kind != IndexKind::output)
        return fmt::format("groups of different '{}' would write the same elements", role.name);
    return "";
  }

  // Finds the blocks that become lanes, in program order. `tensor`: the refinements of `parent`.
  std::string collect(const Block& parent, const TensorNames& names,
                      const std::map<std::string, std::string>& tensor,
                      const std::map<std::string, int64_t>& steps, const std::string& path) {
    for (size_t i = 0; i < parent.stmts.size(); ++i) {
      const Statement& stmt = parent.stmts[i];
      const Block* block = stmt.block();
      const std::string at = fmt::format("{}{}", path, i);
      if (is_barrier(stmt)) continue;
      if (!block) return fmt::format("statement {} is no block", at);
      if (block->tags.has("stencil")) return fmt::format("statement {} is a #stencil", at);
      for (const char* tag : {"parallel", "vector"})
        if (block->tags.has(tag)) return fmt::format("statement {} is #{}", at, tag);
      if (has_index_locations(*block))
        return fmt::format("a location in statement {} names an index", at);
      Work work;
      work.block = block;
      work.path = at;
      for (const Refinement& ref : block->refs) {
        auto known = tensor.find(ref.from);
        if (known != tensor.end() && &parent != &group_ &&
            std::any_of(parent.refs.begin(), parent.refs.end(), [&](const Refinement& outer) {
              return outer.into == ref.from && !starts_at_zero(outer);
            }))
          moved_.insert(known->second);
        work.tensor[ref.into] =
            ref.dir == RefDir::none || known == tensor.end() ? "" : known->second;
        const auto around = steps.find(ref.from);
        work.around[ref.into] = around == steps.end() ? 0 : around->second;
      }
      const bool commutes = why_points_do_not_commute(*block, names).empty();
      if (commutes)
        for (const IndexRole& role : index_roles(*block))
          if (role.kind == IndexKind::output && !block->find_index(role.name)->affine)
            work.outputs.push_back(role);
      const bool blocks_only =
          std::all_of(block->stmts.begin(), block->stmts.end(),
                      [](const Statement& inner) { return inner.block() || is_barrier(inner); });
      if (work.outputs.empty() && blocks_only && !block->stmts.empty()) {
        std::map<std::string, int64_t> inside;
        for (const Refinement& ref : block->refs)
          inside[ref.into] =
              ref.dir == RefDir::none ? 0 : step_of(ref, work.around.at(ref.into), "");
        if (std::string reason =
                collect(*block, names.inside(*block), work.tensor, inside, at + "/");
            !reason.empty())
          return reason;
        loops_.insert(block);
        continue;
      }
      works_.push_back(std::move(work));
    }
    return "";
  }

  // Elements that the view's start is a multiple of, whatever the indices but `without` are, what it
  // is a view of starting at one of `around`; 0: of any number.
  static int64_t step_of(const Refinement& ref, int64_t around, const std::string& without) {
    const Affine flat = ref.flat_access();
    int64_t step = std::gcd(around, flat.constant());
    for (const auto& [name, coefficient] : flat.terms())
      if (name != without) step = std::gcd(step, coefficient);
    return step;
  }

  // --- what lanes hold
  // ----------------------------------------------------------------------------

  // The views that the work has of the group's allocation.
  static std::vector<const Refinement*> views_of(const Work& work, const std::string& name) {
    std::vector<const Refinement*> views;
    for (const Refinement& ref : work.block->refs)
      if (work.tensor.at(ref.into) == name) views.push_back(&ref);
    return views;
  }

  static double points_of(const Work& work) {
    double points = 1;
    for (const Index& index : work.block->idxs) points *= static_cast<double>(index.range);
    return points;
  }

  // Lanes for everything in registers: each element is touched by one lane in all blocks.
  std::string hold() {
    for (const Refinement& ref : group_.refs) {
      if (ref.dir != RefDir::none || ref.location.empty()) continue;
      const stripe::LocationUnit& unit = ref.location.path.back();
      if (unit.name != options_.registers || !unit.owners.empty()) continue;
      Held held;
      held.ref = &ref;
      const Work* first = nullptr;
      for (Work& work : works_) {
        if (views_of(work, ref.into).empty()) continue;
        if (!first || points_of(work) > points_of(*first) || (work.split && !first->split))
          if (!(first && first->split && !work.split)) first = &work;
      }
      if (!first) continue;
      if (moved_.count(ref.into))
        return fmt::format("'{}' is in registers, and a loop moves its view", ref.into);
      Split split;
      if (first->split) {
        split = *first->split;
      } else {
        split = plan(*first, runs_of(*first, ref));
        interleave(*first->block, split);
      }
      if (std::string reason = lanes_of(*first, split, held); !reason.empty()) return reason;
      for (Work& work : works_)
        for (const Refinement* view : views_of(work, ref.into))
          if (std::string reason = take(work, *view, held); !reason.empty()) return reason;
      held_.push_back(std::move(held));
    }
    return "";
  }

  // Puts `pairs` lanes of the second index beside each other, before those of the first. A local
  // memory that reads 16 bytes for each lane reads them once for a lane and the next, and for a
  // lane and the next but one, that want the same: so both operands of a product are read half as
  // often.
  void interleave(const Block& block, Split& split) const {
    if (options_.pairs <= 1 || split.runs.empty() || split.shares.size() < 2) return;
    Split::Share& second = split.shares[1];
    const auto run = split.runs.find(second.index);
    const int64_t range =
        block.find_index(second.index)->range / (run == split.runs.end() ? 1 : run->second);
    // An index of other lengths has lanes beyond its end: no second constraint for them.
    if (second.lanes % options_.pairs != 0 || range % second.lanes != 0) return;
    Split::Share pairs = {second.index, options_.pairs};
    second.lanes /= options_.pairs;
    if (second.lanes == 1) split.shares.erase(split.shares.begin() + 1);
    split.shares.insert(split.shares.begin(), std::move(pairs));
  }

  // The split of a block over indices as one of the allocation over dimensions.
  std::string lanes_of(const Work& work, const Split& split, Held& held) const {
    const Refinement& view = *views_of(work, held.ref->into)[0];
    held.runs.assign(view.access.size(), 1);
    const auto dimension_of = [&](const std::string& name) {
      std::optional<size_t> dim;
      for (size_t d = 0; d < view.access.size(); ++d)
        if (view.access[d] == Affine::of(name)) dim = d;
      return dim;
    };
    for (const Split::Share& share : split.shares) {
      const std::optional<size_t> dim = dimension_of(share.index);
      if (!dim)
        return fmt::format("'{}' is in registers, and no dimension of it is '{}' alone",
                           held.ref->into, share.index);
      held.shares.push_back({*dim, share.lanes});
    }
    for (const auto& [name, run] : split.runs) {
      const std::optional<size_t> dim = dimension_of(name);
      if (!dim)
        return fmt::format("'{}' is in registers, and no dimension of it is '{}' alone",
                           held.ref->into, name);
      held.runs[*dim] = run;
      if (held.ref->shape.dims[*dim].stride == 1) held.vector = dim;
    }
    return "";
  }

  // Elements in a row of each index that a lane should take of what `first` holds: where something
  // that the block reads lies in a row too, so that lanes fetch vectors of it. Empty: single ones.
  std::map<std::string, int64_t> runs_of(const Work& first, const Refinement& held) const {
    std::map<std::string, int64_t> runs;
    const int64_t run = options_.run_bytes / byte_size(held.shape.type);
    if (run <= 1 || !std::has_single_bit(static_cast<uint64_t>(run))) return runs;
    for (const Work& work : works_)
      if (!views_of(work, held.into).empty() && !is_leaf(*work.block)) return runs;
    const Refinement& view = *views_of(first, held.into)[0];
    std::vector<std::pair<int64_t, const IndexRole*>> candidates;
    int64_t lanes = 1;
    for (const IndexRole& role : first.outputs) {
      lanes = cost::saturating_product(lanes, role.range);
      bool in_a_row = false, everywhere = role.range % run == 0;
      for (const Refinement& ref : first.block->refs) {
        const int64_t step = ref.dir == RefDir::in ? ref.flat_access().coefficient(role.name) : 0;
        in_a_row |= step == 1;
        everywhere &=
            step == 0 ||
            (step == 1 && (!is_outside(first, ref) || begins_at_runs(first, ref, role.name, run)));
      }
      if (in_a_row && everywhere)
        candidates.emplace_back(view.flat_access().coefficient(role.name), &role);
    }
    // What lies in a row in the sums first: it becomes the vectors.
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [stride, role] : candidates) {
      if (lanes / run < options_.threads) break;
      lanes /= run;
      runs[role->name] = run;
    }
    return runs;
  }

  // The same of a block that copies: where what comes from outside lies in rows, and the other side
  // in rows too, or across, which then takes a vector's elements one by one. Rows begin at multiples
  // of a run.
  std::map<std::string, int64_t> copied_runs(const Work& work) const {
    std::map<std::string, int64_t> runs;
    if (!work.block->tags.has("copy") || !is_leaf(*work.block)) return runs;
    const Refinement* far = far_view(work);
    int64_t points = 1;
    for (const IndexRole& role : work.outputs)
      points = cost::saturating_product(points, role.range);
    for (const IndexRole& role : work.outputs) {
      int64_t run = 0;
      bool fits = true;
      for (const Refinement& ref : work.block->refs) {
        const int64_t own = options_.run_bytes / byte_size(ref.shape.type);
        fits = fits && own > 1 && std::has_single_bit(static_cast<uint64_t>(own)) &&
               (run == 0 || run == own) && ref.dir != RefDir::none && !ref.agg && !ref.swizzle &&
               role.range % own == 0;
        if (!fits) break;
        run = own;
        const int64_t step = ref.flat_access().coefficient(role.name);
        fits = step == 1 ? begins_at_runs(work, ref, role.name, run) : &ref != far && step > 1;
      }
      if (!fits || run == 0 || points / run < options_.threads) continue;
      runs[role.name] = run;
      break;
    }
    return runs;
  }

  // Makes the block's lanes those that hold the elements which it touches.
  std::string take(Work& work, const Refinement& view, const Held& held) const {
    Split split;
    for (const auto& [d, lanes] : held.shares) {
      std::string name;
      const bool single = view.access[d].is_single_index(&name);
      const bool known =
          single && std::any_of(work.outputs.begin(), work.outputs.end(),
                                [&](const IndexRole& role) { return role.name == name; });
      if (!known || view.shape.dims[d].size != 1)
        return fmt::format("'{}' is in registers, and block {} does not share out its dimension {}",
                           held.ref->into, work.path, d);
      split.shares.push_back({name, lanes});
    }
    for (size_t d = 0; d < held.runs.size(); ++d) {
      if (held.runs[d] == 1) continue;
      std::string name;
      if (!view.access[d].is_single_index(&name) || !work.block->find_index(name) ||
          work.block->find_index(name)->range != held.ref->shape.dims[d].size)
        return fmt::format("'{}' is in registers, and block {} does not share out its dimension {}",
                           held.ref->into, work.path, d);
      split.runs[name] = held.runs[d];
      if (held.vector == d) split.vector = name;
    }
    if (work.split && !(*work.split == split))
      return fmt::format("block {} would need other lanes for '{}'", work.path, held.ref->into);
    work.split = std::move(split);
    return "";
  }

  // --- lanes of one block
  // -------------------------------------------------------------------------

  // The tensor whose elements neighbouring lanes should share: one from outside of the group, that
  // is written before one that is read, of those read the one of which there is more; else what is
  // written.
  const Refinement* far_view(const Work& work) const {
    const Refinement* best = nullptr;
    std::pair<int, int64_t> best_rank = {-1, 0};
    for (const Refinement& ref : work.block->refs) {
      if (ref.dir == RefDir::none) continue;
      const Affine flat = ref.flat_access();
      int64_t touched = 1;
      for (const Index& index : work.block->idxs)
        if (flat.uses(index.name)) touched = cost::saturating_product(touched, index.range);
      const std::pair<int, int64_t> rank = {2 * is_outside(work, ref) + (ref.dir != RefDir::in),
                                            touched};
      if (rank <= best_rank) continue;
      best = &ref;
      best_rank = rank;
    }
    return best;
  }

  // Is it a view of what the group gets from outside?
  bool is_outside(const Work& work, const Refinement& ref) const {
    const std::string& name = work.tensor.at(ref.into);
    const Refinement* own = name.empty() ? nullptr : group_.find_ref(name);
    return own && own->dir != RefDir::none;
  }

  // Do runs along `index` begin at multiples of a run?
  static bool begins_at_runs(const Work& work, const Refinement& ref, const std::string& index,
                             int64_t run) {
    return step_of(ref, work.around.at(ref.into), index) % run == 0;
  }

  int64_t elements(const Refinement& ref) const {
    return std::max<int64_t>(1, options_.access_bytes / byte_size(ref.shape.type));
  }

  // A block that adds: by the rule for a tile's outputs. One that copies: by what it copies.
  Split plan(const Work& work, const std::map<std::string, int64_t>& runs) const {
    if (work.outputs.empty()) return {};
    const Refinement& far = *far_view(work);
    const Affine flat = far.flat_access();
    const bool adds = std::any_of(work.block->refs.begin(), work.block->refs.end(),
                                  [](const Refinement& ref) { return ref.agg.has_value(); });
    std::vector<int64_t> ranges, strides;
    for (const IndexRole& role : work.outputs) {
      const auto run = runs.find(role.name);
      const int64_t elements = run == runs.end() ? 1 : run->second;
      ranges.push_back(role.range / elements);
      // Of copies between what a lane takes and the next: vectors in a row are neighbours.
      strides.push_back(flat.coefficient(role.name) * (adds ? elements : 1));
    }
    Split split;
    split.runs = runs;
    for (const auto& [name, run] : runs)
      if (!adds && flat.coefficient(name) == 1) split.vector = name;
    const auto put = [&](size_t i, int64_t lanes) {
      if (lanes <= 1) return;
      split.shares.push_back({work.outputs[i].name, lanes});
    };
    const auto reads = std::count_if(
        work.block->refs.begin(), work.block->refs.end(),
        [&](const Refinement& ref) { return ref.dir == RefDir::in && is_outside(work, ref); });
    if (adds && (!runs.empty() || (far.dir == RefDir::in && reads > 1))) {
      plan_sums(work, far, runs, ranges, strides, put);
      return split;
    }
    if (!adds || far.dir == RefDir::in) {
      const cost::CopyLanes copy =
          cost::plan_copy(ranges, strides, options_.threads, elements(far), banked(work, far, runs));
      for (size_t i : copy.order) put(i, copy.lanes[i]);
      return split;
    }
    cost::FlatKernel kernel;
    for (size_t i = 0; i < ranges.size(); ++i)
      kernel.indices.push_back({work.outputs[i].name, ranges[i]});
    kernel.output.type = far.shape.type;
    kernel.output.strides = strides;
    GroupSettings settings;
    settings.threads = options_.threads;
    settings.mem_width = options_.access_bytes;
    for (const cost::LanePlan::Index& index : cost::plan_lanes(kernel, ranges, settings).indices)
      put(index.index, index.lanes);
    return split;
  }

  // What a copy of `far` writes or reads in a memory of the group that has banks.
  cost::BankedSide banked(const Work& work, const Refinement& far,
                          const std::map<std::string, int64_t>& runs) const {
    cost::BankedSide out;
    if (!runs.empty() || !work.block->tags.has("copy")) return out;  // vectors take banks in a row
    for (const Refinement& ref : work.block->refs) {
      if (&ref == &far || ref.location.empty()) continue;
      const MemoryUnit* memory = context_.model().find_memory(ref.location.path.back().name);
      if (!memory || memory->bank_bytes != byte_size(ref.shape.type)) continue;
      out.banks = memory->banks;
      const Affine flat = ref.flat_access();
      for (const IndexRole& role : work.outputs) out.strides.push_back(flat.coefficient(role.name));
      break;
    }
    return out;
  }

  // Of a block that adds and whose lanes fetch vectors, or several tensors from outside: lanes that
  // fetch the fewest. Those that fetch the same of `far` are no neighbours.
  template <typename Put>
  void plan_sums(const Work& work, const Refinement& far,
                 const std::map<std::string, int64_t>& runs, const std::vector<int64_t>& ranges,
                 const std::vector<int64_t>& strides, const Put& put) const {
    std::vector<size_t> order(ranges.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(strides[a] == 0, std::abs(strides[a])) <
             std::pair(strides[b] == 0, std::abs(strides[b]));
    });
    std::vector<int64_t> shared_out;
    for (const size_t i : order) shared_out.push_back(ranges[i]);
    std::vector<cost::SumRead> reads;
    for (const Refinement& ref : work.block->refs) {
      if (ref.dir != RefDir::in) continue;
      const Affine flat = ref.flat_access();
      cost::SumRead& read = reads.emplace_back();
      for (const size_t i : order) {
        const auto run = runs.find(work.outputs[i].name);
        read.moved.push_back(flat.uses(work.outputs[i].name));
        if (read.moved.back() && run != runs.end()) read.elements *= run->second;
      }
    }
    const int64_t step = std::max<int64_t>(1, std::abs(strides[order[0]]));
    const std::vector<int64_t> lanes = cost::plan_sum_lanes(
        shared_out, reads, options_.threads, ceil_div(elements(far), step));
    for (size_t i = 0; i < order.size(); ++i) put(order[i], lanes[i]);
  }

  // How many groups there are, and how a grid of three dimensions would count them.
  void describe_groups() const {
    cost::FlatKernel kernel;
    cost::Tile points;
    for (const Refinement& ref : group_.refs) {
      if (ref.dir == RefDir::none || ref.dir == RefDir::in || !kernel.indices.empty()) continue;
      const Affine flat = ref.flat_access();
      for (const Index& index : group_.idxs) {
        if (index.affine || index.range <= 1) continue;
        kernel.indices.push_back({index.name, index.range});
        kernel.output.strides.push_back(flat.coefficient(index.name));
        points.push_back(1);
      }
    }
    const cost::GridPlan grid = cost::plan_grid(kernel, points);
    context_.note(
        fmt::format("{}: groups in a grid [{}]", group_.name, fmt::join(grid.sizes, ", ")));
  }

  // What `--explain thread` shows of a block.
  void describe(const Work& work) const {
    std::vector<std::string> parts;
    for (const Split::Share& share : work.split->shares)
      parts.push_back(fmt::format("{} {}", share.index, share.lanes));
    std::string text = fmt::format("{}: block {}: {}", group_.name, work.path,
                                   parts.empty() ? "one lane" : "lanes " + join(parts, " x "));
    const int64_t lanes = std::min<int64_t>(32, work.split->total());
    for (const Refinement& ref : work.block->refs) {
      const Refinement* own = group_.find_ref(work.tensor.at(ref.into));
      if (ref.dir == RefDir::none || !own || own->dir == RefDir::none || lanes <= 1) continue;
      text += fmt::format("; {} neighbours touch {} of {} B of '{}'", lanes,
                          segments(work, ref, lanes), options_.access_bytes, ref.into);
    }
    int64_t parting = 0;
    for (const Affine& constraint : work.block->constraints)
      parting +=
          std::any_of(work.split->shares.begin(), work.split->shares.end(),
                      [&](const Split::Share& share) { return constraint.uses(share.index); });
    if (parting > 0) text += fmt::format("; {} constraints may part them", parting);
    context_.note(std::move(text));
  }

  // Segments of access_bytes that the first `lanes` lanes touch at once, if the view begins at one.
  int64_t segments(const Work& work, const Refinement& ref, int64_t lanes) const {
    const Affine flat = ref.flat_access();
    std::set<int64_t> touched;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t offset = 0, rest = lane;
      for (size_t i = 0; i < work.split->shares.size(); ++i) {
        const auto& [name, count] = work.split->shares[i];
        offset += flat.coefficient(name) * (rest % count) * work.split->before(i);
        rest /= count;
      }
      touched.insert(floor_div(offset, elements(ref)));
    }
    return static_cast<int64_t>(touched.size());
  }

  // --- changes
  // ------------------------------------------------------------------------------------

  void spread(Block& parent) {
    std::vector<Statement> stmts;
    for (Statement& stmt : parent.stmts) {
      Block* block = stmt.block();
      if (block && loops_.count(block))
        spread(*block);
      else if (block)
        split(*block, *works_[next_++].split);
      stmts.push_back(std::move(stmt));
      if (!block) continue;
      stripe::Special barrier;
      barrier.name = "barrier";
      stmts.emplace_back(stripe::Box<stripe::Special>(std::move(barrier)));
    }
    parent.stmts = std::move(stmts);
    run_in_order(parent);
  }

  void split(Block& block, const Split& split) {
    std::map<std::string, int64_t> tile;
    std::map<std::string, std::string> run_index;
    Affine number;
    int64_t factor = 1;
    for (const auto& [name, run] : split.runs) run_index[name] = split_runs(block, name, run);
    for (const auto& [name, lanes] : split.shares) {
      const std::string lane = strip_index(block, name, lanes);
      tile[lane] = 1;
      number.add_term(lane, factor);
      factor *= lanes;
    }
    split_block(block, tile);
    Block& inner = *block.stmts[0].block();
    for (const std::string& tag : options_.inner_set) inner.tags.set(tag);
    if (!split.vector.empty()) {
      std::map<std::string, int64_t> outside;
      for (const Index& index : inner.idxs)
        if (index.name != run_index.at(split.vector)) outside[index.name] = 1;
      split_block(inner, outside);
      Block& vector = *inner.stmts[0].block();
      drop_single_values(vector, run_index.at(split.vector));
      vector.tags.set("vector");
    }
    stripe::LocationUnit unit;
    unit.name = options_.lane;
    unit.units = {number};
    block.location.path = {std::move(unit)};
    context_.count("blocks_threaded");
  }

  // Writes `name` as run * name + an index of its own, which it returns.
  static std::string split_runs(Block& block, const std::string& name, int64_t run) {
    Index& index = *block.find_index(name);
    Index part;
    part.name = block.fresh_name(name + "_run");
    part.range = run;
    index.range /= run;
    substitute_indices(block, {{name, Affine::of(name) * run + Affine::of(part.name)}});
    for (Affine& constraint : block.constraints)
      if (holds_together(constraint, part.name, part.range))
        constraint.add_term(part.name, -constraint.coefficient(part.name));
    block.idxs.push_back(part);
    return part.name;
  }

  // Writes `name` as lanes * name + lane; the name of the lane's index, which is `name` itself
  // where the lanes take all of it.
  static std::string strip_index(Block& block, const std::string& name, int64_t lanes) {
    const int64_t range = block.find_index(name)->range;
    const int64_t steps = ceil_div(range, lanes);
    if (steps == 1) {
      block.find_index(name)->range = lanes;
      if (lanes != range) block.constraints.push_back(Affine(range - 1) - Affine::of(name));
      return name;
    }
    Index lane;
    lane.name = block.fresh_name(name + "_lane");
    lane.range = lanes;
    substitute_indices(block, {{name, Affine::of(name) * lanes + Affine::of(lane.name)}});
    if (range % lanes != 0)
      block.constraints.push_back(Affine(range - 1) - Affine::of(name) * lanes -
                                  Affine::of(lane.name));
    block.find_index(name)->range = steps;
    block.idxs.push_back(lane);
    return lane.name;
  }

  void distribute(const Held& held) {
    stripe::BitFieldForm lane, slot;
    int64_t factor = 1;
    std::vector<int64_t> together = held.runs;
    for (const auto& [d, lanes] : held.shares) {
      const int bits = std::countr_zero(static_cast<uint64_t>(lanes));
      const int low = std::countr_zero(static_cast<uint64_t>(together[d]));
      lane.fields.push_back({static_cast<int>(d), low, bits, factor});
      factor *= lanes;
      together[d] *= lanes;
    }
    factor = 1;
    const auto take_run = [&](size_t d) {
      if (held.runs[d] <= 1) return;
      slot.fields.push_back(
          {static_cast<int>(d), 0, std::countr_zero(static_cast<uint64_t>(held.runs[d])), factor});
      factor *= held.runs[d];
    };
    if (held.vector) take_run(*held.vector);
    for (size_t d = held.runs.size(); d-- > 0;)
      if (held.vector != d) take_run(d);
    for (size_t d = held.runs.size(); d-- > 0;) {
      const int64_t steps = ceil_div(held.ref->shape.dims[d].size, together[d]);
      if (steps <= 1) continue;
      const int low = std::countr_zero(static_cast<uint64_t>(together[d]));
      const int bits = std::bit_width(static_cast<uint64_t>(steps - 1));
      slot.fields.push_back({static_cast<int>(d), low, bits, factor});
      factor *= steps;
    }
    const std::string name = held.ref->into;
    stripe::LocationUnit& unit = group_.find_ref(name)->location.path.back();
    std::string owner = options_.lane;
    for (char& c : owner) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    unit.owners = {{owner, std::move(lane)}, {"slot", std::move(slot)}};
    context_.note(fmt::format("{}: '{}': {} slots in each lane", group_.name, name, factor));
  }

  Block& group_;
  const std::string commutes_;
  const TensorNames names_;
  const GroupLanes& options_;
  PassContext& context_;
  std::vector<Work> works_;
  std::set<const Block*> loops_;
  std::set<std::string> moved_;  // tensors of which a loop has a view that does not begin at 0
  std::vector<Held> held_;
  size_t next_ = 0;
};

}  // namespace

std::string thread_group(Block& group, PlaceNames& names, const stripe::Place& place,
                         const GroupLanes& lanes, PassContext& context) {
  Block threaded = group;
  std::string reason =
      GroupThreader(threaded, why_points_do_not_commute(group, names.around(place)),
                    names.inside(place), lanes, context)
          .run();
  if (reason.empty()) group = std::move(threaded);
  return reason;
}

}  // namespace stria::passes
