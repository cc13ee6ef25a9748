// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/cache.h"

#include <algorithm>
#include <cstdlib>

#include "stria/cost/workgroup/group_plan.h"
#include "stria/cost/workgroup/output_rows.h"
#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/passes/staging/copies.h"
#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/statement_list.h"
#include "stria/stripe/footprint.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Place;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Bytes that the block's allocations take there; with `inside`, also those of the blocks in it.
int64_t bytes_at(const stripe::Location& location, const Block& block, bool inside) {
  int64_t bytes = 0;
  for (const Refinement& ref : block.refs)
    if (ref.dir == RefDir::none && ref.location == location) bytes += ref.shape.span_bytes();
  for (const Statement& stmt : block.stmts)
    if (inside && stmt.block()) bytes += bytes_at(location, *stmt.block(), true);
  return bytes;
}

class Cacher {
 public:
  Cacher(Block& host, const Place& place, PlaceNames& names, const CacheOptions& options,
         PassContext& context)
      : host_(host), place_(place), names_(names), options_(options), context_(context) {}

  void run() {
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
      // The analysis of a sum makes indices start at 0; a refusal restores them.
      std::vector<Statement> before;
      if (dir == RefDir::out) before = host_.stmts;
      if (Refusal refusal = dir == RefDir::in ? fetch(name) : grow(name)) {
        if (dir == RefDir::out) host_.stmts = std::move(before);
        context_.skipped(fmt::format("{}: {}", place_.path(), name), refusal.reason());
      } else {
        context_.changed();
      }
    }
  }

 private:
  // Is the tensor distributed, so that each unit holds some of its elements (S12)?
  bool is_spread(const std::string& name) const {
    const Place* at = &place_;
    const Refinement* ref = host_.find_ref(name);
    while (ref && ref->dir != RefDir::none && at->parent) {
      at = at->parent;
      ref = at->block->find_ref(ref->from);
    }
    return ref && !ref->location.empty() && !ref->location.path.back().owners.empty();
  }

  // Does the tensor lie across what a block of the host writes? An index then has stride 1 in what
  // is written, and a larger one in the tensor.
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

  Refusal fits(const TensorShape& shape) const {
    return why_no_room(shape, options_.loc, context_.model(), in_use(), options_.spread);
  }

  // Bytes of that memory that are already in use while the block runs.
  int64_t in_use() const {
    int64_t bytes = bytes_at(options_.loc, host_, true);
    for (const Place* at = place_.parent; at && at->depth > 1; at = at->parent)
      bytes += bytes_at(options_.loc, *at->block, false);
    return bytes;
  }

  // --- tensors read ---

  Refusal fetch(const std::string& name) {
    CopyIn plan;
    STRIA_RETURN_IF_REFUSED(
        plan_copy_in(host_, place_, names_, name, options_.layout == "outputs", plan));
    const Refinement& ref = *host_.find_ref(name);
    if (options_.layout == "odd") lay_out_oddly(ref, plan.shape);
    if (options_.layout == "outputs") lay_out_by_outputs(ref, plan.shape);
    STRIA_RETURN_IF_REFUSED(fits(plan.shape));
    add_copy_in(host_, place_, plan,
                {options_.loc, options_.xfer_loc, options_.copy_set, {}, options_.edges});
    context_.count("tensors_fetched");
    return Refusal::none();
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
    const int64_t banks_bytes = memory ? memory->banks * memory->bank_bytes : 0;
    const auto dimension = [&](size_t d) { return order[order.size() - 1 - d]; };
    cost::lay_out_rows(
        order.size(), [&](size_t d) { return shape.dims[dimension(d)].size; },
        [&](size_t d) { return by_output[dimension(d)]; }, {vector, banks_bytes / bytes},
        [&](size_t d, int64_t stride) { shape.dims[dimension(d)].stride = stride; });
  }

  // Gives each dimension an odd stride where possible. Dimensions that are contiguous with one
  // another in the tensor stay so.
  void lay_out_oddly(const Refinement& ref, TensorShape& shape) const {
    cost::FlatTensor tensor;
    cost::Tile tile;
    tensor.type = ref.shape.type;
    for (size_t d = 0; d < ref.shape.dims.size(); ++d) {
      const bool moves = shape.dims[d].size > 1;
      if (moves && ref.shape.dims[d].stride <= 0) return;  // it has no order that could be kept
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

  // --- sums ---

  Refusal grow(const std::string& name) {
    const std::vector<Block*> blocks = path_from_kernel(host_, place_);
    const std::vector<const Block*> path(blocks.begin(), blocks.end());
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
        if (options_.same_type && view.agg->type != view.shape.type)
          return "its sums have another type than it";
        if (stripe::is_loaded(*inner, view)) return "what adds to it reads it, too";
        ++writers;
        multiplies |= view.agg->op == stripe::AggOp::mul && is_float(view.agg->type);
      }
      for (const std::vector<Block*>& chain : writing_chains(*inner, name)) {
        for (Block* block : chain) start_indices_at_zero(*block);
        WriteDomain nest = write_domain(path, {chain.begin(), chain.end()}, name);
        if (nest.refusal) return nest.refusal;
        if (plan.nests.empty())
          plan.nests.push_back(std::move(nest));
        else if (!(plan.nests[0] == nest))
          return "its writers write different elements";
      }
    }
    if (plan.nests.empty()) return "nothing adds to it";
    // Without an aggregation around them, several writers start several sums (S6).
    if (!host_.find_ref(name)->agg && writers > 1) return "several sums follow one another in it";
    const Refinement* outside = outermost_view(place_, *host_.find_ref(name));
    plan.plain_output =
        writes_each_element_once(path, name) && outside && !outside->agg && writes_alone(name);
    // Only sums may be reordered (M10): a product that continues from the tensor's content may not
    // be computed in parts, since 0 * inf is not (0 * x) * y.
    if (multiplies && !plan.plain_output) return "its product continues what is there";
    plan.tile_set = options_.copy_set;
    STRIA_RETURN_IF_REFUSED(fits(accumulator_shape(host_, plan)));
    add_accumulator(host_, plan);
    if (plan.plain_output) drop_aggregation(blocks, name);
    context_.count("sums_cached");
    return Refusal::none();
  }

  // Does no statement beside the host, in the blocks around it up to the kernel, use the tensor?
  bool writes_alone(std::string name) const {
    for (const Place* at = &place_; at->depth > 2; at = at->parent) {
      name = at->block->find_ref(name)->from;
      int64_t users = 0;
      for (const Statement& stmt : at->parent->block->stmts) {
        if (const Block* inner = stmt.block()) users += find_view(*inner, name) != nullptr;
        users += uses_itself(stmt, name);
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
  fields.add("same_type", options.same_type,
             "with `dir` out: only tensors of the type of their sums; agg_init gives others an "
             "accumulator of that type");
  fields.add(
      "across", options.across,
      "only tensors that lie across what is written: an index walks along that with stride 1, "
      "and over the tensor with a larger one");
  fields.add("dir", options.dir, "`in`: copy-in of tensors read; `out`: accumulators for sums",
             std::vector<std::string>{"in", "out"});
  fields.add("loc", options.loc, "memory unit of the copies and accumulators");
  fields.add("spread", options.spread,
             "instances of that memory which share a copy: for registers, the lanes of a group",
             {1, 1 << 20});
  fields.add("xfer_loc", options.xfer_loc,
             "unit that runs the blocks which copy in; none = not set");
  fields.add(
      "layout", options.layout,
      "of copies: `packed`; `odd`: odd strides, so that lanes meet different banks; `outputs`: "
      "what neighbouring outputs read is contiguous, dimensions of reductions alone are outermost, "
      "and gaps between the elements that are read are left out",
      std::vector<std::string>{"packed", "odd", "outputs"});
  fields.add("access_bytes", options.access_bytes,
             "bytes of a vector that a lane reads, for `outputs`: rows begin at multiples of them; "
             "0 = the calibration of the model says",
             {0, 1 << 10});
  fields.add("edges", options.edges,
             "elements of the copy beyond the tensor: `clamp`, poison; `zero_fill`, zeros",
             std::vector<std::string>{stripe::tag::kClamp, stripe::tag::kZeroFill});
  fields.set_tags("copy_set", options.copy_set, "tags of the blocks that copy", {"copy"});
}

Status cache(stripe::Program& program, const CacheOptions& given, PassContext& context) {
  CacheOptions options = given;
  options.access_bytes =
      or_machines(given.access_bytes, context.model().group_facts().vector_bytes);
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

}  // namespace stria::passes
