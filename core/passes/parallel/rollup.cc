// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/rollup.h"

#include <algorithm>
#include <bit>

#include "stria/base/refusal.h"
#include "stria/cost/workgroup/group_plan.h"
#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

bool is_whole_view(const Refinement& view, const Refinement& of) {
  if (view.access.size() != of.shape.dims.size()) return false;
  for (size_t d = 0; d < view.access.size(); ++d)
    if (!(view.access[d] == Affine()) || view.shape.dims[d].size != of.shape.dims[d].size)
      return false;
  return true;
}

int views_of(const Block& block, const std::string& name) {
  return static_cast<int>(std::count_if(
      block.refs.begin(), block.refs.end(),
      [&](const Refinement& ref) { return ref.dir != RefDir::none && ref.from == name; }));
}

// How the host's statements use an accumulator of the host.
struct Use {
  std::vector<size_t> clears, reads;  // statements that set it to the identity, and that read it
  size_t grows = 0;                   // the statement that adds to it
  std::vector<Block*> chain;          // that block, down to the one that stores
  std::string adder;                  // the last block's name for the accumulator
  stripe::Aggregation agg;
};

class Roller {
 public:
  Roller(Block& host, const RollupOptions& options, PassContext& context)
      : host_(host), options_(options), context_(context) {}

  void run() {
    std::vector<std::string> names;
    for (const Refinement& ref : host_.refs)
      if (ref.dir == RefDir::none) names.push_back(ref.into);
    for (const std::string& name : names) {
      Use use;
      if (!find_use(name, use)) continue;  // it is no accumulator
      context_.matched();
      if (const Refusal refusal = roll(name, use)) {
        context_.skipped(fmt::format("{}: {}", host_.name, name), refusal.reason());
        continue;
      }
      context_.count("sums_rolled_up");
      context_.changed();
    }
  }

 private:
  bool find_use(const std::string& name, Use& use) {
    bool found = false;
    const StatementUsers users(host_);
    for (size_t i : users.of(name)) {
      Block* block = host_.stmts[i].block();
      if (!block) return false;
      const Refinement* view = find_view(*block, name);
      if (!view) continue;
      if (views_of(*block, name) > 1) return false;
      if (view->agg) {
        if (found || view->dir != RefDir::inout || !use.reads.empty()) return false;
        found = true;
        use.grows = i;
        use.agg = *view->agg;
        if (!follow(*block, name, *host_.find_ref(name), use)) return false;
      } else if (!is_leaf(*block)) {
        return false;
      } else if (view->dir == RefDir::out && !found) {
        use.clears.push_back(i);
      } else if (view->dir == RefDir::in && found) {
        use.reads.push_back(i);
      } else {
        return false;
      }
    }
    return found && !use.clears.empty();
  }

  // Collects the chain down to the block that adds. Every view on the way must be of the whole
  // accumulator.
  static bool follow(Block& block, const std::string& name, const Refinement& whole, Use& use) {
    use.chain.push_back(&block);
    const Refinement& view = *find_view(block, name);
    bool stores = false;
    Block* below = nullptr;
    for (Statement& stmt : block.stmts) {
      if (const auto* store = std::get_if<stripe::Store>(&stmt.op))
        stores |= store->into == view.into;
      if (const auto* load = std::get_if<stripe::Load>(&stmt.op))
        if (load->from == view.into) return false;
      Block* inner = stmt.block();
      if (!inner || views_of(*inner, view.into) == 0) continue;
      if (below || views_of(*inner, view.into) > 1) return false;
      below = inner;
    }
    if (stores) {
      use.adder = view.into;
      return !below && is_leaf(block);
    }
    return below && is_whole_view(view, whole) && follow(*below, view.into, whole, use);
  }

  // A coordinate list that scalars give has no entry for the new dimension.
  static bool chooses_elements(const Block& block) {
    return std::any_of(block.stmts.begin(), block.stmts.end(), [](const Statement& stmt) {
      const auto* load = std::get_if<stripe::Load>(&stmt.op);
      const auto* store = std::get_if<stripe::Store>(&stmt.op);
      return (load && !load->at.empty()) || (store && !store->at.empty());
    });
  }

  Refusal roll(const std::string& name, const Use& use) {
    const Refinement whole = *host_.find_ref(name);
    if (whole.agg || whole.swizzle) return "its layout is fixed";
    if (!whole.location.empty() && !whole.location.path.back().owners.empty())
      return "it is distributed already";
    Block& adder = *use.chain.back();
    for (const Block* block : use.chain)
      for (const char* tag : {stripe::tag::kParallel, stripe::tag::kVector, stripe::tag::kPipeline})
        if (block->tags.has(tag)) return fmt::format("a block that adds to it is #{}", tag);
    // The new blocks that add up the parts would stand beside such a block (S11).
    for (const Block* block : use.chain)
      if (numbers_units(block->location)) return "a block that adds to it runs on a unit by number";
    if (chooses_elements(adder)) return "a scalar chooses the elements of a block that adds to it";
    for (const std::vector<size_t>* users : {&use.clears, &use.reads})
      for (size_t i : *users)
        if (chooses_elements(*host_.stmts[i].block()))
          return "a scalar chooses the elements of a block that uses it";
    for (size_t i : use.clears)
      if (host_.stmts[i].block()->tags.has(stripe::tag::kVector))
        return "a block that clears it is #vector";
    if (adder.find_ref(use.adder)->agg != use.agg) return "its aggregations differ";
    // Only sums may be reordered (M10).
    if (use.agg.op == stripe::AggOp::mul && is_float(use.agg.type))
      return "it is a product of floats";
    if (use.agg.type != whole.shape.type) return "sums of another type than the buffer's";
    int64_t lanes = 1;
    for (const Dim& dim : whole.shape.dims)
      lanes = cost::saturating_product(lanes, cost::power_of_two_above(dim.size));
    if (options_.parts == 1) return "its block has one part";
    if (options_.parts > 0 && !std::has_single_bit(static_cast<uint64_t>(options_.parts)))
      return fmt::format("{} parts are no power of two", options_.parts);
    if (options_.parts == 0 && lanes >= options_.group_lanes)
      return "it has outputs enough for all lanes";
    const IndexRole* reduction = nullptr;
    const std::vector<IndexRole> roles = index_roles(adder);
    for (const IndexRole& role : roles) {
      if (role.kind != IndexKind::reduction || adder.find_index(role.name)->affine ||
          role.range < options_.parts)
        continue;
      // An index of stride 1 is preferred: neighbouring lanes then read neighbouring elements.
      if (!reduction || (role.input_stride == 1 && reduction->input_stride != 1) ||
          (role.range > reduction->range &&
           (role.input_stride == 1) == (reduction->input_stride == 1)))
        reduction = &role;
    }
    if (!reduction)
      return options_.parts > 0 ? fmt::format("no reduction of it has {} points", options_.parts)
                                : "the block that adds to it has no reduction";
    const auto range = static_cast<uint64_t>(reduction->range / options_.min_steps);
    const uint64_t even = options_.round_up ? std::bit_ceil(range) : std::bit_floor(range);
    const int64_t parts = options_.parts > 0 ? options_.parts
                                             : std::min<int64_t>(options_.group_lanes / lanes,
                                                                 static_cast<int64_t>(even));
    if (parts < 2) return "its reduction is too short";
    change(name, whole, use, *reduction, parts);
    return Refusal::none();
  }

  // The shape with a new first dimension for the parts.
  static TensorShape with_parts(const TensorShape& shape, int64_t parts) {
    std::vector<int64_t> sizes = {parts};
    for (const Dim& dim : shape.dims) sizes.push_back(dim.size);
    return dense_shape(shape.type, sizes);
  }

  // Adds the new dimension to a view of the accumulator.
  static void widen(Refinement& view, const TensorShape& shape, const Affine& at, int64_t size) {
    view.access.insert(view.access.begin(), at);
    view.shape.dims.insert(view.shape.dims.begin(), Dim{size, 0});
    for (size_t d = 0; d < shape.dims.size(); ++d) view.shape.dims[d].stride = shape.dims[d].stride;
  }

  static Index new_index(std::string name, int64_t range) {
    Index index;
    index.name = std::move(name);
    index.range = range;
    return index;
  }

  void change(const std::string& name, const Refinement& whole, const Use& use,
              const IndexRole& reduction, int64_t parts) {
    TensorShape shape = with_parts(whole.shape, parts);
    // If parts are contiguous in what is read, they are contiguous in the accumulator, too.
    if (reduction.input_stride == 1) {
      for (Dim& dim : shape.dims) dim.stride *= parts;
      shape.dims[0].stride = 1;
    }
    host_.find_ref(name)->shape = shape;
    host_.find_ref(name)->access.emplace_back();
    if (!options_.part_loc.empty()) move_to_parts(name, use);
    for (size_t i : use.clears) {
      Block& clear = *host_.stmts[i].block();
      const std::string part = clear.fresh_name("part");
      clear.idxs.push_back(new_index(part, parts));
      widen(*find_view(clear, name), shape, Affine::of(part), 1);
    }
    std::string from = name;
    for (Block* block : use.chain) {
      Refinement& view = *find_view(*block, from);
      from = view.into;
      if (block != use.chain.back()) {
        widen(view, shape, Affine(), parts);
        continue;
      }
      const std::string part = block->fresh_name("part");
      const Affine split = Affine::of(reduction.name) * parts + Affine::of(part);
      substitute_indices(*block, {{reduction.name, split}});
      if (reduction.range % parts != 0)
        block->constraints.push_back(Affine(reduction.range - 1) - split);
      block->find_index(reduction.name)->range = ceil_div(reduction.range, parts);
      block->idxs.push_back(new_index(part, parts));
      widen(view, shape, Affine::of(part), 1);
    }

    // The statements that add up the parts, `radix` at once. Readers then use the total.
    std::vector<Statement> stmts;
    // Neighbouring lanes then store an odd number of elements apart, so that fewer share a bank.
    TensorShape exchanged = with_parts(whole.shape, parts);
    if (reduction.input_stride == 1 && has_banks_to_spare() && exchanged.dims[0].stride % 2 == 0)
      ++exchanged.dims[0].stride;
    std::string sums = shared_buffer(name + fmt::format("_sum_{}", parts), exchanged);
    stmts.emplace_back(exchange(name, sums, shape));
    for (int64_t have = parts; have > 1;) {
      const int64_t left = std::max<int64_t>(1, have / options_.radix);
      const std::string next =
          left > 1
              ? shared_buffer(name + fmt::format("_sum_{}", left), with_parts(whole.shape, left))
              : new_buffer(name + "_sum", dense_shape(whole.shape.type, whole.shape.sizes()));
      stmts.emplace_back(add_parts(sums, next, with_parts(whole.shape, left), have, use.agg));
      sums = next;
      have = left;
    }
    for (size_t i : use.reads) {
      Refinement& view = *find_view(*host_.stmts[i].block(), name);
      view.from = sums;
      view.location = options_.loc;
      for (size_t d = 0; d < view.shape.dims.size(); ++d)
        view.shape.dims[d].stride = host_.find_ref(sums)->shape.dims[d].stride;
    }
    host_.stmts.insert(host_.stmts.begin() + static_cast<std::ptrdiff_t>(use.grows) + 1,
                       std::make_move_iterator(stmts.begin()),
                       std::make_move_iterator(stmts.end()));
    run_in_order(host_);
  }

  // Moves the sums of the lanes to part_loc, in all views.
  void move_to_parts(const std::string& name, const Use& use) {
    host_.find_ref(name)->location = options_.part_loc;
    for (size_t i : use.clears)
      find_view(*host_.stmts[i].block(), name)->location = options_.part_loc;
    std::string from = name;
    for (Block* block : use.chain) {
      Refinement& view = *find_view(*block, from);
      view.location = options_.part_loc;
      from = view.into;
    }
  }

  // Does the memory in which lanes exchange sums have banks, and does no block inside allocate in
  // it? If one does, its tile may leave only as much room as the sums take without gaps.
  bool has_banks_to_spare() const {
    if (options_.loc.empty()) return false;
    const MemoryUnit* memory = context_.model().find_memory(options_.loc.path.back().name);
    return memory && memory->banks > 1 &&
           std::none_of(host_.stmts.begin(), host_.stmts.end(), [&](const Statement& stmt) {
             return stmt.block() && allocates(*stmt.block(), options_.loc);
           });
  }

  static bool allocates(const Block& block, const stripe::Location& loc) {
    return std::any_of(block.refs.begin(), block.refs.end(),
                       [&](const Refinement& ref) {
                         return ref.dir == RefDir::none && ref.location == loc;
                       }) ||
           std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
             return stmt.block() && allocates(*stmt.block(), loc);
           });
  }

  // A buffer for the sums of parts. They are added up right after they are written, so several
  // reductions use the same buffer one after the other.
  std::string shared_buffer(const std::string& name, const TensorShape& shape) {
    for (const std::string& known : shared_)
      if (host_.find_ref(known)->shape == shape) return known;
    return shared_.emplace_back(new_buffer(name, shape));
  }

  std::string new_buffer(const std::string& name, const TensorShape& shape) {
    Refinement ref;
    ref.into = host_.fresh_name(name);
    ref.shape = shape;
    ref.access.resize(shape.dims.size());
    ref.location = options_.loc;
    host_.refs.push_back(ref);
    return ref.into;
  }

  Refinement element(const std::string& name, RefDir dir, const std::vector<Affine>& access) const {
    Refinement ref = *host_.find_ref(name);
    ref.dir = dir;
    ref.from = name;
    ref.access = access;
    // An inner block does not know the host's indices.
    if (names_index(ref.location)) ref.location = {};
    for (Dim& dim : ref.shape.dims) dim.size = 1;
    return ref;
  }

  // A block over all elements of `shape`; `at` is set to their coordinates.
  static Block over(const TensorShape& shape, std::vector<Affine>& at) {
    Block block;
    for (size_t d = 0; d < shape.dims.size(); ++d) {
      at.emplace_back();
      if (shape.dims[d].size == 1) continue;
      const std::string name = d == 0 ? "part" : fmt::format("i{}", d - 1);
      block.idxs.push_back(new_index(name, shape.dims[d].size));
      at.back() = Affine::of(name);
    }
    return block;
  }

  Block exchange(const std::string& from, const std::string& to, const TensorShape& shape) const {
    std::vector<Affine> at;
    Block block = over(shape, at);
    block.refs = {element(from, RefDir::in, at), element(to, RefDir::out, at)};
    block.stmts.emplace_back(stripe::Load{from, "value"});
    block.stmts.emplace_back(stripe::Store{"value", to});
    return block;
  }

  // to[part] = from[part] + from[part + left] + …: makes the `left` parts of `shape` of `have`
  // parts.
  Block add_parts(const std::string& from, const std::string& to, const TensorShape& shape,
                  int64_t have, const stripe::Aggregation& agg) const {
    const int64_t left = shape.dims[0].size;
    std::vector<Affine> at;
    Block block = over(shape, at);
    std::string sum = "lower";
    block.refs.push_back(element(from, RefDir::in, at));
    block.stmts.emplace_back(stripe::Load{from, sum});
    for (int64_t i = 1; i < have / left; ++i) {
      const std::string which = i > 1 ? fmt::format("_{}", i) : "";
      std::vector<Affine> upper = at;
      upper[0] += i * left;
      Refinement ref = element(from, RefDir::in, upper);
      ref.into = block.fresh_name(from + "_upper" + which);
      block.stmts.emplace_back(stripe::Load{ref.into, "upper" + which});
      block.stmts.emplace_back(stripe::Intrinsic{
          std::string(name_of(agg.op)), agg.type, {"sum" + which}, {sum, "upper" + which}});
      block.refs.push_back(std::move(ref));
      sum = "sum" + which;
    }
    if (left == 1) at.erase(at.begin());
    block.refs.push_back(element(to, RefDir::out, at));
    block.stmts.emplace_back(stripe::Store{sum, to});
    return block;
  }

  Block& host_;
  const RollupOptions& options_;
  PassContext& context_;
  std::vector<std::string> shared_;  // buffers of the host that several reductions use
};

}  // namespace

void describe(RollupOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.add("group_lanes", options.group_lanes,
             "lanes of a group, a power of two; a block's tag #group_lanes overrides it; 0 = the "
             "calibration of the model says",
             {0, 1 << 20});
  fields.formerly("threads");
  fields.add("radix", options.radix, "sums that a lane adds up at once, a power of two", {2, 64});
  fields.add("parts", options.parts,
             "parts of the reduction, a power of two; 0 = one for every lane; a block's tag #parts "
             "overrides it",
             {0, 1 << 20});
  fields.add("min_steps", options.min_steps, "steps of the reduction in a part, at least",
             {1, 1 << 30});
  fields.add(
      "round_up", options.round_up,
      "round the number of parts up to a power of two, so that some may be empty, and not down");
  fields.add("loc", options.loc, "memory unit in which lanes exchange sums");
  fields.add("part_loc", options.part_loc,
             "memory unit of the sum of each lane; none = where the accumulator was");
}

Status rollup(stripe::Program& program, const RollupOptions& given, PassContext& context) {
  RollupOptions options = given;
  options.group_lanes =
      or_machines_power(given.group_lanes, context.model().group_facts().group_lanes);
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::hold, "/loc", options.loc));
  STRIA_RETURN_IF_ERROR(
      check_location(context.model(), UnitUse::hold, "/part_loc", options.part_loc));
  if (options.group_lanes < 2 || !std::has_single_bit(static_cast<uint64_t>(options.group_lanes)))
    return invalid_argument("/group_lanes: {} is no power of two above 1", options.group_lanes);
  if (options.parts > 0 && !std::has_single_bit(static_cast<uint64_t>(options.parts)))
    return invalid_argument("/parts: {} is no power of two", options.parts);
  if (!std::has_single_bit(static_cast<uint64_t>(options.radix)))
    return invalid_argument("/radix: {} is no power of two", options.radix);
  return for_each_selected_inside(program, options.reqs, context, [&](Block& block) {
    RollupOptions own = options;
    own.group_lanes = block.tags.integer(stripe::tag::kGroupLanes).value_or(options.group_lanes);
    own.parts = block.tags.integer(stripe::tag::kParts).value_or(options.parts);
    Roller(block, own, context).run();
  });
}

}  // namespace stria::passes
