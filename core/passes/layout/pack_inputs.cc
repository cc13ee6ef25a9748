// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/pack_inputs.h"

#include <algorithm>
#include <optional>

#include "stria/base/refusal.h"
#include "stria/pass/machine_option.h"
#include "stria/passes/layout/shared_copies.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/whole_copy.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// An input of a kernel, and the dimension that is to have stride 1.
struct Packing {
  size_t ref = 0;
  size_t dim = 0;
};

bool chosen_by_scalars(const Block& kernel, const std::string& name) {
  return std::any_of(kernel.stmts.begin(), kernel.stmts.end(), [&](const Statement& stmt) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    return load && load->from == name && !load->at.empty();
  });
}

// The one dimension of the view that moves with the index, by one element for each point.
std::optional<size_t> moved_dim(const Refinement& ref, const std::string& index) {
  std::optional<size_t> dim;
  for (size_t d = 0; d < ref.access.size(); ++d) {
    if (!ref.access[d].uses(index)) continue;
    if (dim || ref.access[d].coefficient(index) != 1) return std::nullopt;
    dim = d;
  }
  return dim;
}

// The input that must be copied so that the index can become lanes; nullopt if it is not exactly
// one.
std::optional<Packing> packing_for(const Block& kernel, const std::string& index) {
  std::optional<Packing> packing;
  for (size_t r = 0; r < kernel.refs.size(); ++r) {
    const Refinement& ref = kernel.refs[r];
    const int64_t step = ref.flat_access().coefficient(index);
    if (ref.dir != RefDir::in) {
      if (step != 1) return std::nullopt;
    } else if (step != 0 && step != 1) {
      const std::optional<size_t> dim = moved_dim(ref, index);
      if (packing || !dim) return std::nullopt;
      packing = Packing{r, *dim};
    }
  }
  return packing;
}

class Packer {
 public:
  // `around`: the tensors of the section.
  Packer(Block& section, TensorNames around, const PackInputsOptions& options, PassContext& context)
      : section_(section), around_(std::move(around)), options_(options), context_(context) {}

  void run() {
    std::vector<Statement> stmts;
    std::swap(stmts, section_.stmts);
    for (Statement& stmt : stmts) {
      Block* kernel = stmt.block();
      if (kernel && kernel->tags.has_all(options_.reqs)) {
        context_.matched();
        if (const Refusal refusal = pack(*kernel)) context_.skipped(kernel->name, refusal.reason());
      }
      copies_.after(stmt, section_);
      section_.stmts.push_back(std::move(stmt));
    }
  }

 private:
  // Appends the copy to the section, or refuses the kernel.
  Refusal pack(Block& kernel) {
    if (section_.tags.has(stripe::tag::kDeps)) return "its block is ordered by dependencies";
    if (!is_leaf(kernel)) return "it holds blocks or a special";
    STRIA_RETURN_IF_REFUSED(why_points_do_not_commute(kernel, around_));
    const VectorChoice vector = choose_vector(kernel, context_.model(), options_.min_range);
    if (vector.lanes <= 1) return "the model gives no vectors";
    if (!vector.index.empty() && !vector.reduction) return "an output index has lanes";
    double points = 1, outputs = 1;
    for (const stripe::Index& index : kernel.idxs) points *= static_cast<double>(index.range);
    const std::vector<IndexRole> roles = index_roles(kernel);
    for (const IndexRole& role : roles)
      if (role.kind == IndexKind::output) outputs *= static_cast<double>(role.range);
    Refusal refusal = "no output index lacks lanes for one input alone";
    for (const IndexRole& role : roles) {
      if (role.kind != IndexKind::output || role.range < options_.min_range) continue;
      const std::optional<Packing> packing = packing_for(kernel, role.name);
      if (!packing) continue;
      const Refinement& view = kernel.refs[packing->ref];
      const Refinement* whole = section_.find_ref(view.from);
      if (!whole || view.tags.has(stripe::tag::kClamp) || view.tags.has(stripe::tag::kZeroFill) ||
          chosen_by_scalars(kernel, view.into)) {
        refusal = "what it reads is not known beforehand";
        continue;
      }
      const auto elements = static_cast<double>(whole->shape.element_count());
      // split_prologue moves the copy of a constant into the prologue, which runs only once. And
      // another kernel may have made the copy.
      const bool free = (whole->is_const && !section_.tags.has(stripe::tag::kPrologue)) ||
                        copies_.find(whole->into, packing->dim) != nullptr;
      if (!free && points < elements * static_cast<double>(options_.reads) &&
          elements > outputs * static_cast<double>(options_.per_output)) {
        refusal = "what would be copied is read too seldom";
        continue;
      }
      const bool read_often = options_.uncached_reads > 0 &&
                              points >= elements * static_cast<double>(options_.uncached_reads);
      if (!read_often && !fits(whole->shape)) {
        refusal = "what would be copied does not stay in the memory";
        continue;
      }
      copy(kernel, *packing, *whole);
      context_.count("inputs_packed");
      context_.changed();
      return Refusal::none();
    }
    return refusal;
  }

  bool fits(const TensorShape& shape) const {
    const MemoryUnit* memory = context_.model().find_memory(options_.memory);
    return memory &&
           static_cast<double>(shape.element_count()) * static_cast<double>(byte_size(shape.type)) *
                   100 <=
               static_cast<double>(memory->size_bytes) * static_cast<double>(options_.percent);
  }

  void copy(Block& kernel, const Packing& packing, const Refinement& whole) {
    const Refinement* made = copies_.find(whole.into, packing.dim);
    const Refinement packed = made ? *made : add_copy(kernel.name, packing.dim, whole);
    Refinement& view = kernel.refs[packing.ref];
    view.from = packed.into;
    view.is_const = false;
    for (size_t d = 0; d < view.shape.dims.size(); ++d)
      view.shape.dims[d].stride = packed.shape.dims[d].stride;
  }

  Refinement add_copy(const std::string& kernel, size_t dim, Refinement whole) {
    const std::string tensor = whole.into;
    Refinement packed;
    packed.into = section_.fresh_name(tensor + "_packed");
    packed.access.resize(whole.access.size());
    packed.shape = whole.shape;
    packed.location = whole.location;
    // The dimension of the lanes is contiguous; the others keep their order.
    packed.shape.dims = dense_with_inner(whole.shape.dims, dim);

    Refinement from = element_view(whole, RefDir::in), to = element_view(packed, RefDir::out);
    std::vector<stripe::Index> indices;
    for (size_t d = 0; d < whole.shape.dims.size(); ++d) {
      if (whole.shape.dims[d].size == 1) continue;
      indices.push_back({fmt::format("i{}", d), whole.shape.dims[d].size, {}, {}});
      from.access[d] = to.access[d] = Affine::of(indices.back().name);
    }
    Block block = copy_kernel(kernel + "_pack_" + tensor, std::move(from), std::move(to));
    block.idxs = std::move(indices);
    copies_.add(tensor, dim, 0, packed);
    section_.refs.push_back(packed);
    section_.stmts.emplace_back(std::move(block));
    return packed;
  }

  Block& section_;
  const TensorNames around_;
  const PackInputsOptions& options_;
  PassContext& context_;
  SharedCopies copies_;
};

}  // namespace

void describe(PackInputsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add(
      "reads", options.reads,
      "a copy pays if the kernel has so many points for each element that is copied, at least; "
      "0 = the calibration of the model says");
  fields.add("per_output", options.per_output,
             "or if so many elements are copied for each that the kernel writes, at most; 0 = none",
             {0});
  fields.unit("memory", options.memory, "memory unit of the model that is to hold the copy");
  fields.add(
      "uncached_reads", options.uncached_reads,
      "points for each element of a copy that the memory does not hold, at least; 0 = no such copy",
      {0});
  fields.formerly("far_reads");
  fields.add("percent", options.percent, "of one instance of that memory that the copy may take",
             {1, 100});
  fields.add("min_range", options.min_range,
             "an index with fewer points gets no lanes; 0 = the calibration of the model says");
}

Status pack_inputs(stripe::Program& program, const PackInputsOptions& given, PassContext& context) {
  PackInputsOptions options = given;
  options.reads = or_machines(given.reads, context.model().core_facts().packed_reads);
  options.min_range = fewest_lane_points(context.model(), given.min_range);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::hold, "/memory", options.memory));
  const TensorNames outside = TensorNames().inside(program.entry);
  for (Block* section : {program.prologue(), program.main()})
    if (section) Packer(*section, outside.inside(*section), options, context).run();
  return Status();
}

}  // namespace stria::passes
