// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/pack_panels.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "stria/base/refusal.h"
#include "stria/passes/layout/shared_copies.h"
#include "stria/rewrite/buffer_views.h"
#include "stria/rewrite/panel_chain.h"
#include "stria/rewrite/whole_copy.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// Dimensions of the packed tensor: the number of panels, then the tensor's own dimensions, with
// `dim` cut to the length of a part.
std::vector<Dim> panel_dims(const Refinement& tensor, size_t dim, int64_t part) {
  std::vector<Dim> out = {{ceil_div(tensor.shape.dims[dim].size, part), 0}};
  out.insert(out.end(), tensor.shape.dims.begin(), tensor.shape.dims.end());
  out[dim + 1].size = part;
  std::vector<size_t> order = {0};
  for (size_t d : order_by_stride(tensor.shape.dims))
    if (d != dim) order.push_back(d + 1);
  order.push_back(dim + 1);
  return dense_in_order(std::move(out), order);
}

class PanelPacker {
 public:
  PanelPacker(Block& entry, Block& section, const PackPanelsOptions& options, PassContext& context)
      : entry_(entry), section_(section), options_(options), context_(context) {}

  void run() {
    std::vector<Statement> stmts;
    std::swap(stmts, section_.stmts);
    for (Statement& stmt : stmts) {
      Block* kernel = stmt.block();
      if (kernel && kernel->tags.has_all(options_.reqs)) {
        path_ = {&entry_, &section_};
        search(*kernel);
      }
      copies_.after(stmt, section_);
      section_.stmts.push_back(std::move(stmt));
    }
  }

 private:
  void search(Block& block) {
    path_.push_back(&block);
    for (size_t r = 0; r < block.refs.size(); ++r) {
      const std::optional<int64_t> dim = block.refs[r].tags.integer(stripe::tag::kPanels);
      if (!dim) continue;
      context_.matched();
      block.refs[r].tags.remove(stripe::tag::kPanels);
      if (const Refusal refusal = pack(block, block.refs[r], *dim))
        context_.skipped(block.name, refusal.reason());
      context_.changed();
    }
    for (Statement& stmt : block.stmts)
      if (Block* inner = stmt.block()) search(*inner);
    path_.pop_back();
  }

  // Appends the copies to the section, or refuses the tensor.
  Refusal pack(Block& block, const Refinement& view, int64_t dim) {
    if (dim < 0 || dim >= static_cast<int64_t>(view.access.size()))
      return fmt::format("'{}' has no dimension {}", view.into, dim);
    std::string index;
    if (!view.access[static_cast<size_t>(dim)].is_single_index(&index))
      return fmt::format("no index of the block alone walks along dimension {} of '{}'", dim,
                         view.into);
    const std::optional<PanelChain> chain =
        panel_chain({path_.begin(), path_.end()}, view.into, index);
    if (!chain) return fmt::format("a copy of '{}' could not stand for it", view.into);
    const int64_t part = block.find_index(index)->range;
    const Refinement tensor = *chain->tensor;
    const int64_t least =
        std::max<int64_t>(1, options_.multiple_bytes / byte_size(tensor.shape.type));
    const int64_t width =
        part >= tensor.shape.dims[chain->dim].size ? ceil_div(part, least) * least : part;
    if (chain->multiple % width != 0)
      return fmt::format("views of '{}' begin within parts of {}", view.into, width);
    const Refinement* made = copies_.find(tensor.into, chain->dim, width);
    const Refinement packed = made ? *made : add_panels(tensor, chain->dim, width);
    move_views(view.into, chain->dim, width, packed);
    context_.count("inputs_packed");
    return Refusal::none();
  }

  // A tensor of the section for the panels, and what copies them.
  Refinement add_panels(const Refinement& tensor, size_t dim, int64_t width) {
    Refinement packed;
    packed.into = section_.fresh_name(tensor.into + "_panels");
    packed.access.resize(tensor.access.size() + 1);
    packed.shape.type = tensor.shape.type;
    packed.shape.dims = panel_dims(tensor, dim, width);
    packed.location = tensor.location;
    add_copies(tensor, dim, width, packed);
    section_.refs.push_back(packed);
    copies_.add(tensor.into, dim, width, packed);
    return packed;
  }

  // Makes the views of the tensor, from the kernel to the innermost block, views of the panels.
  // `name` is the innermost block's name for the tensor.
  void move_views(const std::string& name, size_t dim, int64_t part, const Refinement& packed) {
    std::string into = name;
    for (size_t depth = path_.size() - 1; depth > 1; --depth) {
      Refinement& view = *path_[depth]->find_ref(into);
      into = view.from;
      const bool innermost = depth == path_.size() - 1;
      const int64_t size = view.shape.dims[dim].size;
      view.access.insert(view.access.begin(), innermost ? Affine() : view.access[dim] / part);
      view.shape.dims.insert(view.shape.dims.begin(), Dim{innermost ? 1 : ceil_div(size, part), 0});
      if (!innermost) {
        view.access[dim + 1] = Affine();
        view.shape.dims[dim + 1].size = part;
      }
      for (size_t d = 0; d < view.shape.dims.size(); ++d)
        view.shape.dims[d].stride = packed.shape.dims[d].stride;
      view.is_const = false;
      if (depth == 2) view.from = packed.into;
    }
  }

  // Adds one copy for the whole panels and one for the last panel, which alone needs tests. Beyond
  // the tensor the last panel gets zeros, since lanes compute with them: what memory happens to
  // hold may be denormal, and arithmetic on that takes many times as long.
  void add_copies(const Refinement& tensor, size_t dim, int64_t part, const Refinement& packed) {
    const int64_t whole = tensor.shape.dims[dim].size / part;
    const std::string name = path_[2]->name + "_panels_" + tensor.into;
    if (whole > 0) add_copy(name, tensor, dim, part, packed, {0, whole});
    if (whole < packed.shape.dims[0].size)
      add_copy(name + "_last", tensor, dim, part, packed, {whole, 1});
  }

  struct Panels {
    int64_t first = 0, count = 1;
  };
  void add_copy(const std::string& name, const Refinement& tensor, size_t dim, int64_t part,
                const Refinement& packed, Panels panels) {
    Refinement from = element_view(tensor, RefDir::in), to = element_view(packed, RefDir::out);
    if ((panels.first + panels.count) * part > tensor.shape.dims[dim].size)
      from.tags.set(stripe::tag::kZeroFill);
    Affine panel(panels.first);
    if (panels.count > 1) panel += Affine::of("p");
    to.access[0] = panel;
    for (size_t d = 0; d < from.access.size(); ++d) {
      const bool moves = packed.shape.dims[d + 1].size > 1;
      const Affine along = moves ? Affine::of(fmt::format("i{}", d)) : Affine();
      to.access[d + 1] = along;
      from.access[d] = d == dim ? panel * part + along : along;
    }
    Block block = copy_kernel(name, std::move(from), std::move(to));
    // The loops run along the memory of the source.
    for (size_t d : order_by_stride(tensor.shape.dims)) {
      if (d == dim && panels.count > 1) block.idxs.push_back({"p", panels.count, {}, {}});
      if (packed.shape.dims[d + 1].size > 1)
        block.idxs.push_back({fmt::format("i{}", d), packed.shape.dims[d + 1].size, {}, {}});
    }
    section_.stmts.emplace_back(std::move(block));
  }

  Block& entry_;
  Block& section_;
  const PackPanelsOptions& options_;
  PassContext& context_;
  SharedCopies copies_;
  std::vector<Block*> path_;  // from the entry block over the section to the block at hand
};

}  // namespace

void describe(PackPanelsOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.add("multiple_bytes", options.multiple_bytes,
             "a part that is the whole dimension is rounded up to a multiple of so many bytes",
             {1, 1 << 20});
}

Status pack_panels(stripe::Program& program, const PackPanelsOptions& options,
                   PassContext& context) {
  for (Block* section : {program.prologue(), program.main()})
    if (section) PanelPacker(program.entry, *section, options, context).run();
  return {};
}

}  // namespace stria::passes
