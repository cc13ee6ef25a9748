// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/cache.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "stria/cost/workgroup/group_plan.h"
#include "stria/cost/workgroup/output_rows.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/rewrite/whole_copy.h"
#include "stria/stripe/footprint.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Place;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// What a bank gives at once, of all memories known to have banks.
constexpr int64_t kBankBytes = 4;

// What the block's own allocations there take, with `inside` those of the blocks in it too.
int64_t bytes_at(const stripe::Location& location, const Block& block, bool inside) {
  int64_t bytes = 0;
  for (const Refinement& ref : block.refs)
    if (ref.dir == RefDir::none && ref.location == location) bytes += ref.shape.span_bytes();
  for (const Statement& stmt : block.stmts)
    if (inside && stmt.block()) bytes += bytes_at(location, *stmt.block(), true);
  return bytes;
}

// For each dimension the coordinates in the allocation, or in the view that #main has of it, at
// which the refinement's views begin.
std::vector<Interval> begins_at(const Place& place, const Refinement& ref) {
  std::vector<Interval> begin(ref.access.size(), Interval{0, 0});
  const Refinement* view = &ref;
  for (const Place* at = &place; at && view && view->dir != RefDir::none && at->depth > 1;
       at = at->parent) {
    for (size_t d = 0; d < begin.size(); ++d) {
      const Interval step = interval_of(view->access[d], at->box);
      begin[d] = {begin[d].lower + step.lower, begin[d].upper + step.upper};
    }
    if (at->parent) view = at->parent->block->find_ref(view->from);
  }
  return begin;
}

// The refinement that accesses must stay inside.
const Refinement* bounds_of(const Place& place, const Refinement& ref) {
  const Refinement* view = &ref;
  for (const Place* at = &place; at && view && view->dir != RefDir::none && at->depth > 1;
       at = at->parent)
    view = at->parent ? at->parent->block->find_ref(view->from) : nullptr;
  return view;
}

bool uses_clamps(const Block& block, const std::string& name) {
  for (const Refinement& ref : block.refs)
    if (ref.dir != RefDir::none && ref.from == name) {
      if (ref.tags.has("clamp") || ref.tags.has("zero_fill")) return true;
      for (const Statement& stmt : block.stmts)
        if (stmt.block() && uses_clamps(*stmt.block(), ref.into)) return true;
    }
  return false;
}

// Does a statement of the block fill the allocation from beyond a tensor's end, with nothing that
// may be used? Points that never run may view it; a copy would read it.
bool holds_edges(const Block& block, const std::string& name) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
    const Block* inner = stmt.block();
    const Refinement* view = inner ? find_view(*inner, name) : nullptr;
    return view && view->dir == RefDir::out &&
           std::any_of(inner->refs.begin(), inner->refs.end(),
                       [](const Refinement& ref) { return ref.tags.has("clamp"); });
  });
}

// Is an element loaded through the refinement, in the block or inside of it?
bool reads(const Block& block, const std::string& name) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Statement& stmt) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) return load->from == name;
    if (const stripe::Special* special = stmt.special())
      return std::count(special->inputs.begin(), special->inputs.end(), name) > 0;
    const Block* inner = stmt.block();
    return inner && std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& ref) {
             return ref.dir != RefDir::none && ref.from == name && reads(*inner, ref.into);
           });
  });
}

class Cacher {
 public:
  Cacher(Block& host, const Place& place, PlaceNames& names, const CacheOptions& options,
         PassContext& context)
      : host_(host), place_(place), names_(names), options_(options), context_(context) {}

  void run() {
    chooses_ = true;
    const RefDir dir = options_.dir == "in" ? RefDir::in : RefDir::out;
    std::vector<std::string> names;
    for (const Refinement& ref : host_.refs)
      if ((ref.dir == dir || (dir == RefDir::out && ref.dir == RefDir::inout)) &&
          ref.tags.has_all(options_.ref_reqs))
        names.push_back(ref.into);
    for (const std::string& name : names) {
      if (options_.across && !lies_across(name)) continue;
      context_.matched();
      if (!options_.xfer_loc.empty() && is_spread(name)) {
        context_.skipped(fmt::format("{}: {}", place_.path(), name),
                         "units hold their elements of it, and another one would copy them");
        continue;
      }
      // To see what is written, indices are made to start at 0: what is refused stays as it was.
      std::vector<Statement> before;
      if (dir == RefDir::out) before = host_.stmts;
      const std::string reason = dir == RefDir::in ? fetch(name) : grow(name);
      if (reason.empty()) {
        context_.changed();
        continue;
      }
      if (dir == RefDir::out) host_.stmts = std::move(before);
      context_.skipped(fmt::format("{}: {}", place_.path(), name), reason);
    }
  }

 private:
  // Is the tensor a buffer whose elements units hold, each its own (S12)?
  bool is_spread(const std::string& name) const {
    const Place* at = &place_;
    const Refinement* ref = host_.find_ref(name);
    while (ref && ref->dir != RefDir::none && at->parent) {
      at = at->parent;
      ref = at->block->find_ref(ref->from);
    }
    return ref && !ref->location.empty() && !ref->location.path.back().owners.empty();
  }

  // Does a block of the host step over elements of the tensor where it writes neighbours?
  bool lies_across(const std::string& name) const {
    return std::any_of(host_.stmts.begin(), host_.stmts.end(), [&](const Statement& stmt) {
      const Block* inner = stmt.block();
      const Refinement* view = inner ? find_view(*inner, name) : nullptr;
      if (!view) return false;
      const Affine steps = view->flat_access();
      return std::any_of(inner->refs.begin(), inner->refs.end(), [&](const Refinement& written) {
        if (written.dir == RefDir::none || written.dir == RefDir::in) return false;
        const Affine along = written.flat_access();
        return std::any_of(along.terms().begin(), along.terms().end(), [&](const auto& term) {
          return std::abs(term.second) == 1 && std::abs(steps.coefficient(term.first)) > 1;
        });
      });
    });
  }

  // "" or why the model's memory cannot hold it.
  std::string fits(const TensorShape& shape) const {
    if (options_.loc.empty()) return "";
    const std::string& name = options_.loc.path.back().name;
    const MemoryUnit* memory = context_.model().find_memory(name);
    if (!memory || memory->size_bytes <= 0) return "";
    const int64_t kept = in_use();
    const int64_t bytes = shape.span_bytes();
    const int64_t room = cost::saturating_product(memory->size_bytes, options_.spread);
    if (bytes <= room - kept) return "";
    return fmt::format("a copy of {} bytes does not fit into {}, which holds {}{}", bytes, name,
                       room, kept > 0 ? fmt::format(", {} of them in use", kept) : "");
  }

  // Bytes that are there already while the block runs. Passes that choose the tensors themselves
  // know where the rest of them lies.
  int64_t in_use() const {
    if (!chooses_) return 0;
    int64_t bytes = bytes_at(options_.loc, host_, true);
    for (const Place* at = place_.parent; at && at->depth > 1; at = at->parent)
      bytes += bytes_at(options_.loc, *at->block, false);
    return bytes;
  }

  // --- tensors read
  // -------------------------------------------------------------------------------

  std::string why_not_fetched(const Refinement& ref) {
    // Points of a block around may run at once: none of them writes what is read here.
    const std::string tensor = names_.inside(place_).of(ref.into);
    for (const Place* at = &place_; at && at->depth > 1; at = at->parent) {
      const TensorNames names = names_.inside(*at);
      bool allocates = false;
      for (const Refinement& other : at->block->refs) {
        if (names.of(other.into) != tensor || other.dir == RefDir::in) continue;
        if (other.dir != RefDir::none) return "a block around writes the tensor, too";
        allocates = true;
        if (holds_edges(*at->block, other.into)) return "its edges hold nothing that may be used";
      }
      if (allocates) break;
    }
    for (const Statement& stmt : host_.stmts) {
      const auto* load = std::get_if<stripe::Load>(&stmt.op);
      const stripe::Special* special = stmt.special();
      if (load && load->from == ref.into) return "the block itself loads it";
      if (special && std::count(special->inputs.begin(), special->inputs.end(), ref.into))
        return "a special of the block reads it";
      if (const Block* inner = stmt.block(); inner && uses_clamps(*inner, ref.into))
        return "it is read beyond its end";
    }
    if (ref.tags.has("clamp") || ref.tags.has("zero_fill")) return "it is read beyond its end";
    for (const Dim& dim : ref.shape.dims)
      if (dim.size < 1) return "the size of its part is not known";
    return "";
  }

 public:
  // A copy of the tensor; "" or why there is none.
  std::string fetch(const std::string& name) {
    const Refinement ref = *host_.find_ref(name);
    if (std::string reason = why_not_fetched(ref); !reason.empty()) return reason;
    size_t first = host_.stmts.size();
    for (size_t i = host_.stmts.size(); i-- > 0;)
      if (const Block* inner = host_.stmts[i].block(); inner && find_view(*inner, name)) first = i;
    // A view that nothing is loaded through needs no barrier, and a copy would.
    if (first == host_.stmts.size() || !reads(host_, name)) return "nothing uses it";

    // The part that is touched, in coordinates of the view.
    const std::vector<Interval> touched = stripe::reach_of_view(host_, ref, place_.box);
    const std::vector<int64_t> steps = steps_of(ref, touched);
    Refinement near;
    near.into = host_.fresh_name(name + "_near");
    near.access.resize(ref.access.size());
    near.shape.type = ref.shape.type;
    near.location = options_.loc;
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < touched.size(); ++d)
      sizes.push_back((touched[d].upper - touched[d].lower) / steps[d] + 1);
    near.shape.dims = dense_shape(ref.shape.type, sizes).dims;
    if (options_.layout == "odd") lay_out_oddly(ref, near.shape);
    if (options_.layout == "outputs") lay_out_by_outputs(ref, near.shape);
    if (std::string reason = fits(near.shape); !reason.empty()) return reason;

    Block copy = copy_block(ref, near, touched, steps);
    for (size_t i = first; i < host_.stmts.size(); ++i) {
      restride_views(host_.stmts[i], name, near.shape.dims);
      locate_views(host_.stmts[i], name, near.location);
      Block* inner = host_.stmts[i].block();
      if (!inner) continue;
      for (Refinement& view : inner->refs) {
        if (view.dir == RefDir::none || view.from != name) continue;
        view.from = near.into;
        for (size_t d = 0; d < touched.size(); ++d)
          view.access[d] = (view.access[d] - Affine(touched[d].lower)) / steps[d];
      }
    }
    host_.refs.push_back(std::move(near));
    host_.stmts.emplace(host_.stmts.begin() + static_cast<std::ptrdiff_t>(first), std::move(copy));
    run_in_order(host_);
    context_.count("tensors_fetched");
    return "";
  }

 private:
  // Elements along each dimension from one that the copy holds to the next, by the layout.
  std::vector<int64_t> steps_of(const Refinement& ref, const std::vector<Interval>& touched) const {
    std::vector<int64_t> steps(touched.size(), options_.layout == "outputs" ? 0 : 1);
    for (const Statement& stmt : host_.stmts) {
      const Block* user = stmt.block();
      if (!user) continue;
      for (const Refinement& view : user->refs) {
        if (view.dir == RefDir::none || view.from != ref.into) continue;
        const std::vector<Interval> part =
            stripe::reach_of_view(*user, view, user->index_box(place_.box));
        for (size_t d = 0; d < steps.size(); ++d)
          steps[d] = part[d] == Interval{0, 0}
                         ? (view.access[d] - Affine(touched[d].lower)).common_divisor(steps[d])
                         : 1;
      }
    }
    for (int64_t& step : steps) step = std::max<int64_t>(1, step);
    return steps;
  }

  void lay_out_by_outputs(const Refinement& ref, TensorShape& shape) const {
    std::vector<bool> by_output(shape.dims.size(), false);
    for (const Statement& stmt : host_.stmts) {
      const Block* user = stmt.block();
      if (!user) continue;
      for (const IndexRole& role : index_roles(*user))
        if (role.kind != IndexKind::reduction)
          for (const Refinement& view : user->refs)
            if (view.from == ref.into && view.dir != RefDir::none)
              for (size_t d = 0; d < by_output.size(); ++d)
                by_output[d] = by_output[d] || view.access[d].uses(role.name);
    }
    const std::vector<size_t> order = order_by_stride(ref.shape.dims);  // outermost first
    const int64_t bytes = byte_size(shape.type);
    const int64_t vector = std::max<int64_t>(1, options_.access_bytes / bytes);
    const MemoryUnit* memory = options_.loc.empty()
                                   ? nullptr
                                   : context_.model().find_memory(options_.loc.path.back().name);
    const int64_t banks_bytes = (memory ? memory->banks : 0) * kBankBytes;
    const auto dimension = [&](size_t d) { return order[order.size() - 1 - d]; };
    cost::lay_out_rows(
        order.size(), [&](size_t d) { return shape.dims[dimension(d)].size; },
        [&](size_t d) { return by_output[dimension(d)]; }, {vector, banks_bytes / bytes},
        [&](size_t d, int64_t stride) { shape.dims[dimension(d)].stride = stride; });
  }

  // Each dimension with a stride that is odd where it can be; dimensions behind one another in the
  // tensor stay so.
  void lay_out_oddly(const Refinement& ref, TensorShape& shape) const {
    cost::FlatTensor tensor;
    cost::Tile tile;
    tensor.type = ref.shape.type;
    for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
      const bool moves = shape.dims[d].size > 1;
      if (moves && ref.shape.dims[d].stride <= 0) return;  // it has no order to keep
      tensor.strides.push_back(moves ? ref.shape.dims[d].stride : 0);
      tile.push_back(shape.dims[d].size);
    }
    GroupSettings settings;
    settings.mem_width = byte_size(tensor.type);
    const cost::StagePlan plan = cost::plan_stage(tensor, tile, settings);
    for (const cost::StagedIndex& index : plan.indices) {
      int64_t members = 1;
      for (size_t d : plan.members(index)) members = cost::saturating_product(members, tile[d]);
      if (members != index.range) return;  // dimensions that overlap in the tensor
    }
    const std::vector<int64_t> strides = plan.local_strides(tensor);
    for (size_t d = 0; d < strides.size(); ++d)
      if (strides[d] != 0) shape.dims[d].stride = strides[d];
  }

  Block copy_block(const Refinement& ref, const Refinement& near,
                   const std::vector<Interval>& touched, const std::vector<int64_t>& steps) {
    Refinement from = ref, to = near;
    from.dir = RefDir::in;
    to.dir = RefDir::out;
    from.from = from.into = ref.into;
    to.from = to.into = near.into;
    from.agg.reset();
    from.is_const = ref.is_const;
    from.tags = {};
    if (names_index(from.location)) from.location = {};
    const std::vector<Interval> reach = begins_at(place_, ref);
    const Refinement* bounds = bounds_of(place_, ref);
    std::vector<int64_t> begin;
    bool beyond = !bounds;
    for (size_t d = 0; d < touched.size(); ++d) {
      begin.push_back(touched[d].lower);
      if (bounds && reach[d].lower + begin[d] < 0) beyond = true;
      if (bounds && reach[d].upper + touched[d].upper >= bounds->shape.dims[d].size) beyond = true;
    }
    if (beyond) from.tags.set(options_.edges);
    Block block = copy_box(std::move(from), std::move(to), near.shape.sizes(), begin, steps);
    block.tags.set_all(options_.copy_set);
    block.location = options_.xfer_loc;
    return block;
  }

  // --- sums
  // ---------------------------------------------------------------------------------------

  std::string grow(const std::string& name) {
    std::vector<Block*> blocks;
    for (const Place* at = &place_; at && at->depth > 1; at = at->parent)
      blocks.insert(blocks.begin(),
                    const_cast<Block*>(at->block));  // all of them are the program's
    const std::vector<const Block*> path(blocks.begin(), blocks.end());
    if (path.empty()) return "a kernel's sums are cached inside it";
    TensorNames names = names_.inside(place_);
    for (const Refinement& other : host_.refs)
      if (other.into != name && other.dir != RefDir::none && names.of(other.into) == names.of(name))
        return "the block has another view of it";
    AccumulatorPlan plan;
    plan.name = name;
    plan.location = options_.loc;
    size_t writers = 0;
    bool multiplies = false;
    for (Statement& stmt : host_.stmts) {
      if (const stripe::Special* special = stmt.special())
        if (std::count(special->inputs.begin(), special->inputs.end(), name) ||
            std::count(special->outputs.begin(), special->outputs.end(), name))
          return "a special of the block uses it";
      if (const auto* load = std::get_if<stripe::Load>(&stmt.op); load && load->from == name)
        return "the block itself loads it";
      if (const auto* store = std::get_if<stripe::Store>(&stmt.op); store && store->into == name)
        return "the block itself stores to it";
      Block* inner = stmt.block();
      if (!inner) continue;
      for (const Refinement& view : inner->refs) {
        if (view.from != name || view.dir == RefDir::none) continue;
        if (!view.agg) return "not all that its blocks do with it is to add";
        if (stripe::is_loaded(*inner, view)) return "what adds to it reads it, too";
        ++writers;
        multiplies |= view.agg->op == stripe::AggOp::mul && is_float(view.agg->type);
      }
      for (const std::vector<Block*>& chain : writing_chains(*inner, name)) {
        for (Block* block : chain) start_indices_at_zero(*block);
        WrittenNest nest = written_nest(path, {chain.begin(), chain.end()}, name);
        if (!nest.reason.empty()) return nest.reason;
        if (plan.nests.empty())
          plan.nests.push_back(std::move(nest));
        else if (!(plan.nests[0] == nest))
          return "its writers write different elements";
      }
    }
    if (plan.nests.empty()) return "nothing adds to it";
    // Chains beside each other start anew.
    if (!host_.find_ref(name)->agg && writers > 1) return "several sums follow one another in it";
    const Refinement* outside = bounds_of(place_, *host_.find_ref(name));
    plan.plain_output =
        writes_each_element_once(path, name) && outside && !outside->agg && writes_alone(name);
    // Sums may be taken in parts, nothing else (M10): 0 * (inf) is not (0 * x) * y.
    if (multiplies && !plan.plain_output) return "its product continues what is there";
    plan.tile_set = options_.copy_set;
    if (std::string reason = fits(accumulator_shape(host_, plan)); !reason.empty()) return reason;
    add_accumulator(host_, plan);
    if (plan.plain_output) drop_aggregation(blocks, name);
    context_.count("sums_cached");
    return "";
  }

  // Is the host, in all blocks around it up to the kernel, the only one that uses the tensor?
  bool writes_alone(std::string name) const {
    for (const Place* at = &place_; at->depth > 2; at = at->parent) {
      name = at->block->find_ref(name)->from;
      int64_t users = 0;
      for (const Statement& stmt : at->parent->block->stmts) {
        if (const Block* inner = stmt.block()) users += find_view(*inner, name) != nullptr;
        if (const stripe::Special* special = stmt.special())
          users += std::count(special->outputs.begin(), special->outputs.end(), name) +
                   std::count(special->inputs.begin(), special->inputs.end(), name);
        if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) users += store->into == name;
        if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) users += load->from == name;
      }
      if (users != 1) return false;
    }
    return true;
  }

  Block& host_;
  const Place& place_;
  PlaceNames& names_;
  const CacheOptions& options_;
  PassContext& context_;
  bool chooses_ = false;  // which tensors have a copy
};

bool is_located(const Place& place) {
  for (const Place* at = &place; at; at = at->parent)
    if (!at->block->location.empty()) return true;
  return false;
}

}  // namespace

void describe(CacheOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a block must have");
  fields.tags("ref_reqs", options.ref_reqs, "tags that a refinement must have");
  fields.add("across", options.across,
             "only tensors whose neighbours are no neighbours in what is written");
  fields.add("dir", options.dir, "`in`: tensors read are fetched; `out`: sums grow near",
             std::vector<std::string>{"in", "out"});
  fields.add("loc", options.loc, "memory unit of the copies");
  fields.add("spread", options.spread,
             "instances of that memory which share a copy: lanes of a group, of registers",
             {1, 1 << 20});
  fields.add("xfer_loc", options.xfer_loc, "unit that runs the blocks which fetch; none = not set");
  fields.add(
      "layout", options.layout,
      "of what is fetched: `packed`; `odd` strides that keep lanes apart in banks; `outputs`: what "
      "neighbouring outputs read lies in a row, what only reductions move along is outermost, what "
      "lies between elements that are read is left out",
      std::vector<std::string>{"packed", "odd", "outputs"});
  fields.add(
      "access_bytes", options.access_bytes,
      "that a lane reads at once, of `outputs`: rows of such vectors begin at multiples of one",
      {1, 1 << 10});
  fields.add(
      "edges", options.edges,
      "what the copy holds of elements beyond the tensor: `clamp`, nothing that may be used; "
      "`zero_fill`, zeros",
      std::vector<std::string>{"clamp", "zero_fill"});
  fields.set_tags("copy_set", options.copy_set, "tags of the blocks that copy", {"copy"});
}

Status cache(stripe::Program& program, const CacheOptions& options, PassContext& context) {
  STRIA_RETURN_IF_ERROR(check_location(context.model(), UnitUse::hold, "/loc", options.loc));
  STRIA_RETURN_IF_ERROR(
      check_location(context.model(), UnitUse::run, "/xfer_loc", options.xfer_loc));
  PlaceNames names;
  for_each_selected_place(program, options.reqs, [&](Block& block, const Place& place) {
    if (place.depth < 2)
      context.skipped(block.name, "it is no part of a kernel");
    else if (is_located(place) && holds_numbered_blocks(block))
      context.skipped(block.name, "it holds lane blocks, and a copy may not stand beside them");
    else if (is_located(place) && numbers_units(options.xfer_loc))
      context.skipped(block.name, "a copy by a numbered unit would be a lane of the block around");
    else
      Cacher(block, place, names, options, context).run();
  });
  return Status();
}

std::string fetch_near(Block& host, const Place& place, PlaceNames& names, const std::string& name,
                       const CacheOptions& options, PassContext& context) {
  return Cacher(host, place, names, options, context).fetch(name);
}

}  // namespace stria::passes
